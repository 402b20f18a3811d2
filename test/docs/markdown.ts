/** A Markdown table. Not padded: its cells are long. */
export function toTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [toLine(heads), toLine(heads.map(() => '---')), ...rows.map(toLine)].join('\n');
}

const BLOCK = /(<!-- generated: ([\w-]+) -->\n)(.*?)(\n<!-- \/generated -->)/gs;

/** The names of the blocks of a page that are written by a program. */
export const blocksIn = (page: string): readonly string[] => [...page.matchAll(BLOCK)].map(([, , name = '']) => name);

/** A page with its blocks written anew. */
export const withBlocks = (page: string, toBlock: (name: string) => string): string =>
  page.replace(
    BLOCK,
    (_, head: string, name: string, _old: string, tail: string) => `${head}\n${toBlock(name)}\n${tail}`,
  );

/** Without what is in a code block: that has no headings and no links. */
export const prose = (page: string): string => page.replace(/^( *)```.*?^\1```$/gms, '');

/** The anchors of a page, as GitHub makes them of its headings. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose(page).matchAll(/^#{1,6} +(.*?) *$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** What a page links to, as it is written. */
export const linksOf = (page: string): readonly string[] =>
  [
    ...prose(page)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^()\s]+)\)/g),
  ].map(([, target = '']) => target);

/** The TypeScript in a page that is to be compiled, each with the line that it begins in. */
export const snippetsIn = (page: string): readonly { readonly line: number; readonly code: string }[] =>
  [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ 1: code = '', index }) => ({
    line: page.slice(0, index).split('\n').length,
    code,
  }));
