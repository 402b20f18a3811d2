/** A request as a server got it, without what is of one run only. */
export interface Hit {
  readonly method: string;
  readonly place: string;
  /** Name and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What came of one type of request in one run. */
export interface Seen {
  readonly hits: readonly Hit[];
  /** What the page can tell of it, as plain data. */
  readonly page: unknown;
}

export interface Difference {
  /** A header, or the path of what the page got: `page.status`. */
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const NONE = '(none)';

/** Everything in which two runs of one type differ, each once. */
export function differences(before: Seen, after: Seen): readonly Difference[] {
  return unique([...hitDifferences(before.hits, after.hits), ...fieldsDiffering(flat(before.page), flat(after.page))]);
}

function hitDifferences(before: readonly Hit[], after: readonly Hit[]): readonly Difference[] {
  const [was, is] = [byUrl(before), byUrl(after)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((url) => {
    const [these, those] = [was.get(url) ?? [], is.get(url) ?? []];
    const count =
      these.length === those.length
        ? []
        : [{ field: `hits ${url}`, before: `${these.length}`, after: `${those.length}` }];
    return [...count, ...these.flatMap((hit, at) => (those[at] ? oneHit(hit, those[at]) : []))];
  });
}

/** How the second request to each URL differs from the first. `undefined`: there was no second one. */
export function secondAttempts(hits: readonly Hit[]): readonly Difference[] | undefined {
  const repeated = [...byUrl(hits).values()].flatMap(([first, second]) =>
    first && second ? [[first, second] as const] : [],
  );
  if (repeated.length === 0) return undefined;
  return unique(repeated.flatMap(([first, second]) => oneHit(first, second)));
}

/** Which comes first is chance where a page asks for several things. */
function byUrl(hits: readonly Hit[]): ReadonlyMap<string, readonly Hit[]> {
  const grouped = new Map<string, Hit[]>();
  for (const hit of hits) {
    const key = urlOf(hit);
    grouped.set(key, [...(grouped.get(key) ?? []), hit]);
  }
  return grouped;
}

/** What a request is to, and how. */
export const urlOf = (hit: Hit): string => `${isPreflight(hit) ? 'preflight' : hit.method} ${hit.place} ${hit.target}`;

const isPreflight = ({ method, headers }: Hit): boolean =>
  method === 'OPTIONS' && headers.some(([name]) => name.toLowerCase() === 'access-control-request-method');

function oneHit(before: Hit, after: Hit): readonly Difference[] {
  return fieldsDiffering(
    [...namedOnce(before.headers), ['body', before.body]],
    [...namedOnce(after.headers), ['body', after.body]],
  );
}

/** A header that comes twice is one with both values; their order tells nothing, that of the names neither. */
function namedOnce(headers: Hit['headers']): readonly (readonly [string, string])[] {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers) values.set(name, [...(values.get(name) ?? []), value]);
  return [...values].map(([name, all]) => [name, all.sort().join(' + ')]);
}

function fieldsDiffering(
  before: readonly (readonly [string, string])[],
  after: readonly (readonly [string, string])[],
): readonly Difference[] {
  const [was, is] = [new Map(before), new Map(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((field) => ({ field, before: was.get(field) ?? NONE, after: is.get(field) ?? NONE }))
    .filter((one) => one.before !== one.after);
}

function flat(value: unknown, path = 'page'): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value) ?? 'undefined']];
  const fields = Object.entries(value);
  if (fields.length === 0) return [[path, JSON.stringify(value)]];
  return fields.flatMap(([name, field]) => flat(field, `${path}.${name}`));
}

const unique = (all: readonly Difference[]): readonly Difference[] => [
  ...new Map(all.map((one) => [inWords(one), one])).values(),
];

export const inWords = ({ field, before, after }: Difference): string => `${field}: ${before} → ${after}`;
