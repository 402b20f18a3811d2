import { spawnSync } from 'node:child_process';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { isRight, ROWS } from '../support/retry-after-rows.ts';

const NOW = Date.UTC(2026, 6, 5, 12);

// A time zone is the process's own, so every zone gets a process; the code comes bundled, as Node reads no TypeScript.
async function parserAsScript(): Promise<string> {
  const entry = new URL('../../src/policy/retry-after.ts', import.meta.url).pathname;
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    publicDir: false,
    build: { write: false, minify: false, lib: { entry, formats: ['es'] } },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output && 'output' in output ? output.output[0] : undefined;
  if (chunk === undefined) throw new Error('nothing was built');
  return chunk.code;
}

interface ZoneReport {
  readonly offsetMinutes: number;
  /** What the platform makes of a date without a zone. */
  readonly localNoonMs: number;
  /** `null` where the parser gave `undefined`. */
  readonly waitsMs: readonly (number | null)[];
}

function inZone(zone: string, parser: string): ZoneReport {
  const script = `${parser}
    const rows = ${JSON.stringify(ROWS)};
    process.stdout.write(JSON.stringify({
      offsetMinutes: new Date(${NOW}).getTimezoneOffset(),
      localNoonMs: Date.parse('Sun, 05 Jul 2026 12:00:00'),
      waitsMs: rows.map(({ header, now }) => parseRetryAfter(header, Date.parse(now)) ?? null),
    }));`;
  const { PATH } = process.env;
  const child = spawnSync(process.execPath, ['--input-type=module'], {
    input: script,
    encoding: 'utf8',
    env: { TZ: zone, ...(PATH === undefined ? {} : { PATH }) },
  });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

const parser = await parserAsScript();

describe.each([
  { zone: 'UTC', offsetMinutes: 0 },
  { zone: 'America/New_York', offsetMinutes: 240 },
  { zone: 'Pacific/Kiritimati', offsetMinutes: -840 },
])('in $zone', ({ zone, offsetMinutes }) => {
  const report = inZone(zone, parser);

  test(`local time is ${offsetMinutes} minutes behind UTC`, () => {
    expect(report.offsetMinutes).toBe(offsetMinutes);
    expect(report.localNoonMs).toBe(NOW + offsetMinutes * 60_000);
  });

  test('all 96 rows were answered', () => {
    expect(ROWS).toHaveLength(96);
    expect(new Set(ROWS.map(({ id }) => id)).size).toBe(96);
    expect(report.waitsMs).toHaveLength(96);
  });

  test.each(ROWS.map((row, index) => ({ ...row, row, waitMs: report.waitsMs[index] ?? undefined })))(
    '$id $level: $header means $expected_ms ms, or $alt_ms',
    ({ row, waitMs }) => {
      expect({ waitMs, right: isRight(row, waitMs) }).toEqual({ waitMs, right: true });
    },
  );
});
