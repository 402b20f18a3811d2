import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { hedgingPicture, herdPicture, layersPicture, recoveryPicture } from './charts.ts';
import { attemptsOf, hedgingTail, herd, PERCENTILES, recovery } from './measure.ts';

const SEEDS = [1, 2, 3];

describe.each(SEEDS)('seed %i', (seed) => {
  test('the more a wait is spread, the smaller the crowd that comes at once', () => {
    const peak = (jitter: Parameters<typeof herd>[0]) => herd(jitter, { seed }).peak;
    expect(peak('none')).toBe(1_000);
    expect(peak('equal')).toBeLessThan(peak('none') / 2);
    expect(peak('full')).toBeLessThan(peak('equal'));
    expect(peak('decorrelated')).toBeLessThan(peak('equal'));
  });

  test('a hold with its spread lets the fleet come back in a row, not in a crowd', () => {
    const punctual = recovery('at the named moment', seed);
    const jittered = recovery('each with upward jitter', seed);
    const ours = recovery('steadfetch: hold, then spread', seed);
    expect(punctual.peak).toBeGreaterThan(40 * punctual.steady);
    expect(jittered.peak).toBeLessThan(punctual.peak / 2);
    expect(ours.peak).toBeLessThan(jittered.peak * 0.7);
    expect(ours.peak).toBeLessThan(10 * ours.steady);
  });

  test('two naive layers multiply; of ours a second one adds nothing', () => {
    const requests = 1_000;
    expect(attemptsOf('one naive layer', { seed, requests })).toBe(4);
    expect(attemptsOf('naive over naive', { seed, requests })).toBe(16);
    const mixed = attemptsOf('naive over steadfetch', { seed, requests });
    expect(mixed).toBeGreaterThanOrEqual(4);
    expect(mixed).toBeLessThan(4.5);
    expect(attemptsOf('steadfetch over steadfetch', { seed, requests })).toBeLessThan(1.2);
  });

  test('hedges shorten the tail and are at most one request in twenty', () => {
    const { without, hedged, hedgeShare, mostHedges } = hedgingTail({ seed });
    for (const [index] of PERCENTILES.entries()) expect(hedged[index]).toBeLessThanOrEqual(without[index] ?? 0);
    expect(hedged[PERCENTILES.indexOf(99)]).toBeLessThan((without[PERCENTILES.indexOf(99)] ?? 0) / 10);
    expect(hedgeShare).toBeLessThanOrEqual(mostHedges);
  });
});

test.each([
  { name: 'herd.svg', draw: herdPicture },
  { name: 'layers.svg', draw: layersPicture },
  { name: 'recovery.svg', draw: recoveryPicture },
  { name: 'hedging.svg', draw: hedgingPicture },
])('docs/sim/$name is what would be drawn now, byte for byte, and has a look for the dark', async ({ name, draw }) => {
  const svg = await draw();
  // Compared as booleans: nobody wants to read the difference of two pictures.
  expect(svg === (await draw())).toBe(true);
  expect(svg === (await readFile(new URL(`../../docs/sim/${name}`, import.meta.url), 'utf8'))).toBe(true);
  expect(svg).toContain('prefers-color-scheme:dark');
});
