import { expect, test } from '../support/browser.ts';
import { CATALOGUE } from '../transparency/catalogue.ts';
import { type Engine, LACKING } from '../transparency/expected.ts';
import { judge, type Row, type Runs } from '../transparency/judge.ts';
import { readMeasured, writeMeasured } from '../transparency/measured.ts';
import { observe, type Run } from '../transparency/run.ts';
import { inLines } from '../transparency/table.ts';

// The language that tests set by default is told to pages and service workers only, not to shared workers.
const WITHOUT_LANGUAGE: object = { locale: undefined };

test('every type of request is as under a bare worker at first, and the same at each further attempt', async ({
  site,
  browser,
  browserName,
}) => {
  // Some seconds on a machine that has nothing else to do.
  test.setTimeout(300_000);
  const engine: Engine = browserName;
  const types = CATALOGUE.filter(({ id }) => LACKING[engine][id] === undefined);
  const scriptOf = async (worker: string) => (await fetch(`${site.url}/${worker}.sw.js`)).text();
  const run = async (run: Run, some = types) => {
    const context = await browser.newContext(WITHOUT_LANGUAGE);
    const seen = await observe(() => context.newPage(), some, run);
    await context.close();
    return seen;
  };
  const [bare, undelayed, persistent] = [
    await scriptOf('bare'),
    await scriptOf('undelayed'),
    await scriptOf('persistent'),
  ];
  // A document that may come from the cache again is delivered as it is: none of these would reach its end.
  const withoutTabs = types.filter(({ leaves }) => leaves === undefined);
  const runs: Runs = {
    ...(await together({
      none: () => run({ name: 'none' }),
      bare: () => run({ name: 'bare', script: bare }),
      ours: () => run({ name: 'ours', script: undelayed }),
    })),
    ...(await together({
      busy: () => run({ name: 'busy', script: persistent, trouble: 'busy' }),
      lost: () => run({ name: 'lost', script: persistent, trouble: 'reset' }),
      warm: () => run({ name: 'warm', script: persistent, trouble: 'storable' }, withoutTabs),
    })),
  };
  const judged = types.map((type) => [type.id, judge(type, runs)] as const);
  const rows: Record<string, Row> = Object.fromEntries(judged.map(([id, { row }]) => [id, row]));
  console.log(inLines(types, rows));
  expect(judged.flatMap(([, { problems }]) => problems)).toEqual([]);
  if (process.env.TRANSPARENCY === 'write') writeMeasured(engine, rows);
  expect(rows, 'see the note in test/transparency/measured.ts').toEqual(readMeasured()[engine]);
});

async function together<Name extends string, Value>(
  work: Readonly<Record<Name, () => Promise<Value>>>,
): Promise<Record<Name, Value>> {
  const names = Object.keys(work) as Name[];
  const values = await Promise.all(names.map((name) => work[name]()));
  return Object.fromEntries(names.map((name, at) => [name, values[at]])) as Record<Name, Value>;
}
