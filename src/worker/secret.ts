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
  return {
    async value() {
      await notes.loaded();
      const nonce = known();
      if (typeof nonce === 'string') return nonce;
      const made = crypto.randomUUID();
      notes.set(key, made);
      return made;
    },
    is(nonce) {
      if (nonce === undefined) return false;
      return notes.isLoaded() ? nonce === known() : notes.loaded().then(() => nonce === known());
    },
  };
}
