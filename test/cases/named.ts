import { readdirSync, readFileSync } from 'node:fs';

/** `test/`, whatever folder the tests are run from. */
const TESTS = new URL('../', import.meta.url);

/** These name ids to count them, and show none. */
const COUNTERS = ['peer-by-hand.test.ts', 'table.test.ts'];

/** What each test file says without its comments, by its path under `test/`: a case that is only mentioned is not shown. */
function readTests(): ReadonlyMap<string, string> {
  const paths = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:test|spec)\.ts$/.test(path) && !COUNTERS.some((name) => path.endsWith(name)));
  const textOf = (path: string) => readFileSync(new URL(path, TESTS), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  return new Map(paths.sort().map((path) => [path, textOf(path)]));
}

/** Finds the test files in which a case is named: `row 5`, `B001`, `ky-014`. */
export function createFinder(): (id: string) => readonly string[] {
  const tests = [...readTests()];
  return (id) => {
    const named = new RegExp(`\\b${id}\\b`);
    return tests.flatMap(([path, text]) => (named.test(text) ? [path] : []));
  };
}
