import { cold } from './cold.mjs';
import { devtools } from './devtools.mjs';
import { firstTry } from './first-try.mjs';
import { memory } from './memory.mjs';
import { outbox } from './outbox.mjs';
import { ownJs } from './own-js.mjs';
import { resume } from './resume.mjs';
import { sizes } from './sizes.mjs';

/** Name → resolves to its `tables`, the `chromium` they were taken in, and what is `wrong`, if anything is. */
export const PARTS = {
  'first-try': firstTry,
  cold,
  'own-js': ownJs,
  memory,
  sizes,
  resume,
  outbox,
  devtools,
};
