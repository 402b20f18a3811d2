import { type Classified, type Classify, createClassifier } from '../../src/engine/classify.ts';
import { createWorld, type World, type WorldOptions } from './engine-world.ts';

export interface Judged extends World {
  readonly seen: { readonly outcome: Classified; readonly attempt: number }[];
  readonly problemsOfClassify: unknown[];
}

/** A world with a function of the user’s that judges attempts: what it saw, and what was wrong with what it said. */
export function judged(
  classify: Classify,
  { body = false, ...options }: WorldOptions & { body?: boolean } = {},
): Judged {
  const seen: Judged['seen'] = [];
  const problemsOfClassify: unknown[] = [];
  const asked: Classify = (outcome, attempt) => {
    seen.push({ outcome, attempt });
    return classify(outcome, attempt);
  };
  // The world makes the ports that a classifier needs, so it is asked through the world.
  const classifier: { ask?: ReturnType<typeof createClassifier> } = {};
  const world = createWorld({
    ...options,
    classify: (...args) => classifier.ask?.(...args) ?? Promise.resolve(undefined),
  });
  classifier.ask = createClassifier(asked, body, world.ports, (problem) => problemsOfClassify.push(problem));
  return { ...world, seen, problemsOfClassify };
}
