import { expect, test } from 'vitest';
import { GAPS, type GapName, gapText, hasGap } from './gaps.ts';
import { type Report, summarize } from './summary.ts';

const GAPS_OF_WEBKIT = (Object.keys(GAPS) as GapName[]).filter((name) => hasGap('webkit', name));

type Row = [title: string, status: 'expected' | 'unexpected' | 'skipped', type?: string, description?: string];

const report = (projectName: string, rows: readonly Row[]): Report => ({
  suites: [
    {
      suites: [
        {
          specs: rows.map(([title, status, type, description]) => ({
            title,
            tests: [{ projectName, status, annotations: type && description ? [{ type, description }] : [] }],
          })),
        },
      ],
    },
  ],
});

const allGaps: Row[] = GAPS_OF_WEBKIT.map((name) => [name, 'skipped', 'skip', gapText('webkit', name)]);

test('counts per engine, and says of each gap how many tests met it, why, and what is done instead', () => {
  const less: Row = ['less', 'expected', 'checks-less', gapText('webkit', 'document-status')];
  const { lines, faults } = summarize(report('webkit', [['a', 'expected'], ['b', 'unexpected'], less, ...allGaps]));
  expect(lines[0]).toBe(`webkit: 2 passed, 1 failed, ${allGaps.length} skipped`);
  expect(lines).toHaveLength(1 + allGaps.length);
  expect(lines.find((line) => line.includes('offline:'))).toBe(
    `  1 skipped: offline: ${GAPS.offline.engines.webkit}; instead: ${GAPS.offline.instead}`,
  );
  expect(lines.find((line) => line.includes('document-status'))).toContain('1 skipped, 1 check less');
  expect(faults).toEqual([]);
});

test('a test that is skipped without a gap, or for another engine’s, is a fault', () => {
  const other: Row = ['other', 'skipped', 'skip', gapText('firefox', 'offline')];
  const { faults } = summarize(report('webkit', [['bare', 'skipped'], other, ...allGaps]));
  expect(faults).toEqual([
    "webkit skipped 'bare' for no gap that has a name",
    "webkit skipped 'other' for no gap that has a name",
  ]);
});

test('a gap that no test meets is a fault', () => {
  const { faults } = summarize(report('webkit', allGaps.slice(1)));
  expect(faults).toEqual([`webkit has the gap ${GAPS_OF_WEBKIT[0]}, but no test meets it`]);
  expect(summarize(report('webkit', allGaps.slice(1)), { complete: false }).faults).toEqual([]);
});

test('Chromium has no gap to be skipped for', () => {
  const { lines, faults } = summarize(
    report('chromium', [
      ['a', 'expected'],
      ['b', 'skipped'],
    ]),
  );
  expect(lines).toEqual(['chromium: 1 passed, 0 failed, 1 skipped']);
  expect(faults).toEqual(["chromium skipped 'b' for no gap that has a name"]);
  expect(() => gapText('chromium', 'offline')).toThrow("chromium has no gap 'offline'");
});
