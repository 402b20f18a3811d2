import { type Engine, GAPS, type GapName, gapText, hasGap } from './gaps.ts';

/** Of Playwright's JSON report what is read here. */
export interface Report {
  readonly suites: readonly Suite[];
}

interface Suite {
  readonly suites?: readonly Suite[];
  readonly specs?: readonly { readonly title: string; readonly tests: readonly TestOf[] }[];
}

interface TestOf {
  readonly projectName: string;
  readonly status: 'expected' | 'unexpected' | 'flaky' | 'skipped';
  readonly annotations: readonly { readonly type: string; readonly description?: string }[];
}

export interface Summary {
  readonly lines: readonly string[];
  /** What makes the whole run fail though no test of it did. */
  readonly faults: readonly string[];
}

/**
 * What each engine came to, what was left out in it and why; and whether all that was left out has a name. Only a run of
 * all files is `complete`: each gap has to be met in it.
 */
export function summarize({ suites }: Report, { complete = true } = {}): Summary {
  const tests = suites.flatMap(testsOf);
  const engines = [...new Set(tests.map(({ projectName }) => projectName as Engine))];
  const lines: string[] = [];
  const faults: string[] = [];
  for (const engine of engines) {
    const own = tests.filter(({ projectName }) => projectName === engine);
    const count = (...of: TestOf['status'][]) => own.filter(({ status }) => of.includes(status)).length;
    lines.push(
      `${engine}: ${count('expected', 'flaky')} passed, ${count('unexpected')} failed, ${count('skipped')} skipped`,
    );
    const unnamed = new Map(own.filter(({ status }) => status === 'skipped').map((test) => [test, true]));
    for (const name of Object.keys(GAPS) as GapName[]) {
      if (!hasGap(engine, name)) continue;
      const text = gapText(engine, name);
      const told = (type: string) =>
        own.filter(({ annotations }) => annotations.some((one) => one.type === type && one.description === text));
      const [skipped, less] = [told('skip'), told('checks-less')];
      for (const test of skipped) unnamed.delete(test);
      if (skipped.length + less.length === 0) {
        if (!complete) continue;
        faults.push(`${engine} has the gap ${name}, but no test meets it`);
      }
      const what = [
        ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
        ...(less.length > 0 ? [`${less.length} check less`] : []),
      ].join(', ');
      lines.push(`  ${what || 'none'}: ${text.replace(/^gap /, '')}; instead: ${GAPS[name].instead}`);
    }
    for (const { title } of unnamed.keys()) faults.push(`${engine} skipped '${title}' for no gap that has a name`);
  }
  return { lines, faults };
}

const testsOf = ({ suites = [], specs = [] }: Suite): (TestOf & { readonly title: string })[] => [
  ...suites.flatMap(testsOf),
  ...specs.flatMap(({ title, tests }) => tests.map((test) => ({ ...test, title }))),
];

/** For docs/browsers.md. */
export const gapRows = (): (readonly string[])[] =>
  Object.entries(GAPS).map(([name, { what, engines, instead }]) => [
    name,
    what,
    Object.keys(engines).join(', '),
    [...new Set(Object.values(engines))].join('; '),
    instead,
  ]);
