import type { Plugin } from 'vite';
import type { Invariant } from './invariants.ts';

/** A fault that is put into what the run's worker is built of, and the invariant that has to notice it. */
export interface Planted {
  readonly name: string;
  readonly caught: Invariant;
  readonly edits: readonly Edit[];
  /** The seed whose plan meets it often. @defaultValue that of the command */
  readonly seed?: number;
  /** Is it tried each time? One that a hundred requests cannot miss. */
  readonly sample?: boolean;
}

interface Edit {
  /** Below `src`. */
  readonly file: string;
  /** Stands there once. */
  readonly find: string;
  readonly instead: string;
}

export const PLANTED: readonly Planted[] = [
  {
    name: 'an outbox promises without keeping',
    caught: 'no lost request',
    edits: [{ file: 'outbox/intake.ts', find: 'await keep(entry, body, policy);', instead: '' }],
  },
  {
    name: 'an outbox takes any answer for a delivery',
    caught: 'no lost request',
    seed: 2,
    edits: [
      {
        file: 'policy/outbox-entry.ts',
        find: 'if (status < 200 || status > 299) return false;',
        instead: 'if (status < 200) return false;',
      },
    ],
  },
  {
    name: 'POST is repeated without a key',
    caught: 'no unexplained duplicate',
    edits: [
      {
        file: 'policy/eligibility.ts',
        find: 'return !idempotent && (keyed || policy.retryNonIdempotent);',
        instead: 'return !idempotent;',
      },
    ],
  },
  {
    name: 'there are three attempts more than allowed',
    caught: 'no unexplained duplicate',
    edits: [
      {
        file: 'engine/run.ts',
        find: 'targets.length === 1 ? call.policy :',
        instead: 'targets.length === 1 ? { ...call.policy, attempts: call.policy.attempts + 3 } :',
      },
    ],
  },
  {
    name: 'each attempt has a key of its own',
    caught: 'no unexplained duplicate',
    sample: true,
    edits: [
      {
        file: 'engine/send.ts',
        find: '!target.mirror) return started(take(attempt === 1, last));',
        instead: `!target.mirror) {
          const sent = take(attempt === 1, last);
          const headers = new Headers(sent.headers);
          if (facts.keyed) headers.set('Idempotency-Key', 'own-' + attempt);
          return started(facts.keyed ? new Request(sent, { headers }) : sent);
        }`,
      },
    ],
  },
  {
    name: 'any Retry-After is waited for, without a deadline',
    caught: 'no endless wait',
    edits: [
      {
        file: 'policy/decide.ts',
        find: "if (askedMs > maxMs && overMax === 'give-up') return 'too-long';",
        instead: '',
      },
      { file: 'policy/decide.ts', find: 'upwards(Math.min(askedMs, maxMs), ', instead: 'upwards(askedMs, ' },
      { file: 'policy/deadline.ts', find: '=> startedAt + totalMs;', instead: '=> startedAt + totalMs + 1e9;' },
    ],
  },
  {
    name: 'a wait of a second or more never ends',
    caught: 'no endless wait',
    edits: [
      {
        file: 'engine/next-landing.ts',
        find: 'ports.sleep(Math.max(0, afterMs))',
        instead: 'ports.sleep(afterMs >= 1_000 ? 1e9 : Math.max(0, afterMs))',
      },
    ],
  },
  {
    name: 'the end of a late attempt is left to nobody',
    caught: 'no unhandled rejection',
    edits: [
      {
        file: 'engine/serve.ts',
        find: 'void late.then((landing) => dropUnless(result, landing));',
        instead:
          "void late.then((landing) => { if ('error' in landing) throw landing.error; dropUnless(result, landing); });",
      },
    ],
  },
  {
    name: 'the third attempt of a request fails in the layer itself',
    caught: 'no unhandled rejection',
    edits: [
      {
        file: 'engine/run.ts',
        find: 'if (attempt === 1) prepare();',
        instead: "if (attempt === 1) prepare(); if (attempt === 3) throw new Error('planted');",
      },
    ],
  },
  {
    name: 'the body of a discarded answer is not cancelled',
    caught: 'no leaked connection',
    edits: [
      {
        file: 'engine/discard.ts',
        find: 'reader.cancel().catch(() => {});\n    return { whole: false, chunks };',
        instead:
          '(globalThis as any).planted = [reader, (globalThis as any).planted]; return { whole: false, chunks };',
      },
    ],
  },
  {
    name: 'no connection is freed before a wait',
    caught: 'no leaked connection',
    edits: [
      {
        file: 'engine/run.ts',
        find: 'const kept = await discard(flights.response, facts.navigation, ports);',
        instead: 'const kept = { response: flights.response, whole: true };',
      },
    ],
  },
  {
    name: 'bodies that were kept for replay are never let go',
    caught: 'memory back to base',
    edits: [{ file: 'engine/body.ts', find: 'ledger.keptBytes -= bytes;', instead: '' }],
  },
  {
    name: 'every request is remembered for ever',
    caught: 'memory back to base',
    edits: [
      {
        file: 'engine/serve.ts',
        find: 'const response = await answer(call, engine, onFault);',
        instead: `((globalThis as { planted?: unknown[] }).planted ??= []).push(new Array(10_000).fill(0));
          const response = await answer(call, engine, onFault);`,
      },
    ],
  },
  {
    name: 'a resumed body lacks its last byte',
    caught: 'byte-exact answers',
    edits: [
      {
        file: 'engine/resume.ts',
        find: 'if (end === undefined || received <= end) return chunk;',
        instead: 'if (end === undefined || received <= end) return received === total ? chunk.subarray(0, -1) : chunk;',
      },
    ],
  },
  {
    name: 'a body that breaks off ends as if it were whole',
    caught: 'byte-exact answers',
    edits: [
      {
        file: 'engine/resume.ts',
        find: 'if (received === total || (ended && end === undefined)) return undefined;',
        instead: 'if (received >= 0) return undefined;',
      },
    ],
  },
];

/** Puts it in while the worker is built. Fails the build if the place is not there any more, or not only once. */
export function plant({ name, edits }: Planted): Plugin {
  const left = new Set(edits);
  return {
    name: 'planted-fault',
    enforce: 'pre',
    transform(code, id) {
      let changed = code;
      for (const edit of edits) {
        if (!id.endsWith(`/src/${edit.file}`)) continue;
        if (changed.split(edit.find).length !== 2) {
          throw new Error(`planted fault "${name}": src/${edit.file} must have once: ${edit.find}`);
        }
        changed = changed.replace(edit.find, () => edit.instead);
        left.delete(edit);
      }
      return changed === code ? null : changed;
    },
    buildEnd(error) {
      if (error !== undefined || left.size === 0) return;
      const files = [...left].map(({ file }) => `src/${file}`).join(', ');
      throw new Error(`planted fault "${name}": ${files} is no part of the worker`);
    },
  };
}
