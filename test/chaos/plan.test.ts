import { describe, expect, test } from 'vitest';
import { readPlan } from '../../demo/wire/step.ts';
import { FAULTS } from './faults.ts';
import { type Action, createPlan, issuesOf } from './plan.ts';

const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
const placesOf = (actions: readonly Action[], what: Action['do']) =>
  actions.flatMap((action, at) => (action.do === what ? [at] : []));

test('the same seed makes the same plan, another one another', () => {
  expect(createPlan(7, 300)).toEqual(createPlan(7, 300));
  expect(createPlan(7, 300).actions).not.toEqual(createPlan(9, 300).actions);
});

test('as many requests as were asked for, each with an id of its own', () => {
  const ids = issuesOf(createPlan(3, 400)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(400);
});

test('the misbehaving server takes every step', () => {
  for (const seed of seeds) {
    for (const { steps, onward = steps } of issuesOf(createPlan(seed, 100))) {
      expect(readPlan(steps)).toEqual({ steps });
      expect(readPlan(onward)).toEqual({ steps: onward });
    }
  }
});

describe('in 6,000 requests there is', () => {
  const plans = seeds.map((seed) => createPlan(seed, 300));
  const issues = plans.flatMap(issuesOf);
  const names = new Set(issues.flatMap(({ faults }) => faults));

  test.each(FAULTS.map(({ name }) => name))('the fault "%s"', (name) => expect(names).toContain(name));

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('the method %s', (method) =>
    expect(issues.some((issue) => issue.method === method)).toBe(true),
  );

  test.each(['POST', 'PATCH'])('%s with a key and without', (method) => {
    const keys = issues.filter((issue) => issue.method === method).map(({ key }) => key);
    expect(keys).toContain(undefined);
    expect(keys.some((key) => key !== undefined)).toBe(true);
  });

  test.each(['kill', 'flip', 'close', 'hurry'] as const)('a %s', (what) =>
    expect(plans.some(({ actions }) => placesOf(actions, what).length > 0)).toBe(true),
  );
});

test('no worker is stopped after its memory was weighed, nor just before', () => {
  for (const { actions } of seeds.map((seed) => createPlan(seed, 400))) {
    const [weighed = 0] = placesOf(actions, 'weigh');
    const last = placesOf(actions, 'kill').at(-1) ?? 0;
    expect(last).toBeLessThan(weighed);
    expect(actions.slice(last, weighed).filter((action) => action.do === 'issue').length).toBeGreaterThanOrEqual(48);
  }
});
