/** Says something once: a fault that comes with every request must not fill the console. */
export type Warner = (what: string, detail?: unknown) => void;

export function createWarner(): Warner {
  const said = new Set<string>();
  return (what, detail) => {
    if (said.has(what)) return;
    said.add(what);
    console.warn(`steadfetch: ${what}`, ...(detail === undefined ? [] : [detail]));
  };
}
