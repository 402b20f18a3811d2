import type { Notes } from './notes.js';

/**
 * Tells what a page itself asks for from what a URL asks for that somebody has given to the page: only who has said hello
 * knows it. Kept, because a worker that is started again must know what it has told.
 */
export interface Secret {
  /** To be told to a page. */
  value(): Promise<string>;
  /** Is this it? A worker that was just started has to look. */
  is(nonce: string | undefined): boolean | Promise<boolean>;
}

export function createSecret(notes: Notes, scope: string): Secret {
  // Workers of other scopes have their own.
  const key = `nonce ${scope}`;
  const known = (): unknown => notes.get(key);
  let value: Promise<string> | undefined;
  /** Kept before it is told: a worker may be stopped at any moment, and the next one must know it. */
  const make = async (): Promise<string> => {
    await notes.loaded();
    const nonce = known();
    if (typeof nonce === 'string') return nonce;
    const made = crypto.randomUUID();
    await notes.set(key, made);
    return made;
  };
  return {
    value: () => (value ??= make()),
    is(nonce) {
      if (nonce === undefined) return false;
      return notes.isLoaded() ? nonce === known() : notes.loaded().then(() => nonce === known());
    },
  };
}
