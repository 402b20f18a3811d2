import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCompatible, PROTOCOL, VERSION } from '../../src/protocol/version.ts';

test('the version is the package’s', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(manifest.version);
});

test('the protocol is a number, and so never the same as a version', () => {
  expect(Number.isInteger(PROTOCOL)).toBe(true);
});

describe('page and worker fit', () => {
  test.each<[string, string, boolean]>([
    ['0.1.0', '0.1.0', true],
    ['0.1.0', '0.1.9', true],
    ['0.1.0', '0.2.0', true],
    ['0.2.0', '0.1.0', true],
    ['0.1.0', '0.0.9', true],
    ['0.1.0', '0.3.0', false],
    ['1.9.0', '1.10.0', true],
    ['1.2.0', '1.12.0', false],
    ['1.0.0', '2.0.0', false],
    ['10.0.0', '10.1.0', true],
    ['10.0.0', '11.0.0', false],
    ['0.1.0', '1.1.0', false],
    ['1.2.3', '1.2.3-beta.1', true],
    ['1.2.3', '1.2.3+build', true],
    ['1.2.3', '', false],
    ['', '', false],
    ['1.2.3', '1.2', false],
    ['1.2.3', 'v1.2.3', false],
    ['1.2.3', ' 1.2.3', false],
    ['1.2.3', 'latest', false],
    ['1.2.3', '-1.2.3', false],
    ['1.2.3', '1.-2.3', false],
  ])('%s and %s: %s', (ours, theirs, fit) => {
    expect(isCompatible(ours, theirs)).toBe(fit);
  });

  test('is the same from either side, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((parts) => parts.join('.')),
        ),
        (theirs) => {
          expect(isCompatible(VERSION, theirs)).toBe(isCompatible(theirs, VERSION));
        },
      ),
    );
  });
});
