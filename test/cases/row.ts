import { inCoreForm } from './in-core-form.ts';

/** A row of a table of cases: what a policy was given, what the network did, and what has to come of it. */
export interface Row {
  readonly id: string;
  readonly name?: string;
  /** A matter of taste. */
  readonly optional?: boolean;
  readonly given: Given;
  readonly when: readonly NetworkStep[];
  readonly then: Expected;
}

interface Given {
  readonly policy: GivenPolicy;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly now?: string;
  readonly TZ?: string;
  /** What chance gives, if not its least, its middle and its most. */
  readonly random?: number;
}

export interface GivenPolicy {
  /** The first included. */
  readonly attempts?: number;
  /** A list, or words such as `429, 5xx but 501`. */
  readonly statuses?: readonly number[] | string;
  /** The same for GET, and for every other method. */
  readonly statuses_by_method?: { readonly GET: readonly number[]; readonly '*': readonly number[] };
  readonly methods?: readonly string[] | 'any';
  readonly base_ms?: number;
  readonly factor?: number;
  readonly cap_ms?: number | null;
  readonly delays_ms?: readonly number[];
  /** `none`, `full`, `equal`, `decorrelated`, `xN`, `xA-B`, `add A-B`, `+-N%`. */
  readonly jitter?: string;
  readonly retry_after?: boolean;
  readonly ra_statuses?: readonly number[];
  readonly ra_max_ms?: number | null;
  readonly ra_over?: 'clamp' | 'giveup';
  readonly timeout_ms?: number | null;
  readonly on_timeout?: 'retry' | 'fail';
  readonly total_ms?: number | null;
}

/** What the network does with one attempt. */
export type NetworkStep =
  | number
  | 'net'
  | {
      readonly s: number | 'net';
      readonly h?: Readonly<Record<string, string>>;
      readonly ms?: number;
      readonly body?: string;
    };

/** A number is exact, `[lo, hi]` a range, and `null` at its end no limit. */
export type Bound = number | readonly [number, number | null];

export interface Expected {
  readonly attempts?: Bound;
  readonly status?: number;
  /** Of the answer that the page gets. */
  readonly body?: string;
  /** Is there a second attempt? */
  readonly retryable?: boolean;
  /** `network`, or the name or words of another error; `null`: none. */
  readonly error?: string | null;
  readonly delays_ms?: readonly Bound[];
  /** The text that every attempt sends, or `same`: the one that was given. */
  readonly body_each?: string;
  readonly elapsed_ms?: Bound;
  readonly hook_calls?: number;
  readonly note?: string;
}

/** One line of a table, as a row; or why it is none that a program can run. */
export type Reading =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'for-a-person'; readonly id: string; readonly why: string }
  | { readonly kind: 'unreadable'; readonly id: string; readonly why: string };

/** Reads a table of one row a line. */
export const readTable = (text: string): Reading[] =>
  text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [readRow(line, index + 1)]));

function readRow(line: string, number: number): Reading {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    return { kind: 'unreadable', id: `line ${number}`, why: `is no JSON: ${(error as Error).message}` };
  }
  const id = isObject(row) && typeof row.id === 'string' ? row.id : `line ${number}`;
  if (!isObject(row)) return { kind: 'unreadable', id, why: 'is no object' };
  const plain = inCoreForm(row);
  const why = whyNoCore(plain);
  return why === undefined
    ? { kind: 'row', row: { ...plain, id } as unknown as Row }
    : { kind: 'for-a-person', id, why };
}

/** What of a row is not in the form that can be run; `undefined` if all of it is. */
function whyNoCore({ given, when, then }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(given) || !isObject(given.policy)) return '`given` has no policy';
  if (!isObject(then)) return '`then` is no object';
  if (!Array.isArray(when) || !when.every(isNetworkStep)) return '`when` is no list of what the network does';
  return (
    wrongField(given, GIVEN, 'given') ??
    wrongField(given.policy, POLICY, 'given.policy') ??
    wrongField(then, THEN, 'then') ??
    (Object.keys(then).every((key) => key === 'note') ? '`then` says nothing' : undefined)
  );
}

type Test = (value: unknown) => boolean;

function wrongField(value: object, fields: Readonly<Record<string, Test>>, where: string): string | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const test = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (test === undefined) return `\`${where}.${key}\` is no field that can be played`;
    if (!test(inner)) return `\`${where}.${key}\` is not of the form: ${JSON.stringify(inner)}`;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber: Test = (value) => typeof value === 'number' && Number.isFinite(value);
const isText: Test = (value) => typeof value === 'string';
const isFlag: Test = (value) => typeof value === 'boolean';
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value);
const listOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);
const oneOf =
  (...choices: readonly string[]): Test =>
  (value) =>
    choices.includes(value as string);
const isTexts: Test = (value) => isObject(value) && Object.values(value).every(isText);

const isBound: Test = (value) =>
  isNumber(value) ||
  (Array.isArray(value) && value.length === 2 && isNumber(value[0]) && (value[1] === null || isNumber(value[1])));

const isNetworkStep: Test = (step) => {
  if (step === 'net' || isStatus(step)) return true;
  if (!isObject(step)) return false;
  const { s, h = {}, ms = 0, body = '', ...more } = step;
  return (s === 'net' || isStatus(s)) && isTexts(h) && isNumber(ms) && isText(body) && Object.keys(more).length === 0;
};

/** Those that a page can be given. */
const isStatus: Test = (value) => Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599;

const GIVEN: Readonly<Record<string, Test>> = {
  policy: isObject,
  method: isText,
  body: orNull(isText),
  headers: isTexts,
  now: (value) => isText(value) && Number.isFinite(Date.parse(value as string)),
  TZ: isText,
  random: (value) => isNumber(value) && (value as number) >= 0 && (value as number) < 1,
};

const POLICY: Readonly<Record<string, Test>> = {
  attempts: (value) => Number.isInteger(value) && (value as number) >= 1,
  statuses: (value) => isText(value) || listOf(isNumber)(value),
  statuses_by_method: (value) =>
    isObject(value) && Object.keys(value).sort().join() === '*,GET' && Object.values(value).every(listOf(isNumber)),
  methods: (value) => value === 'any' || listOf(isText)(value),
  base_ms: isNumber,
  factor: isNumber,
  cap_ms: orNull(isNumber),
  delays_ms: listOf(isNumber),
  jitter: isText,
  retry_after: isFlag,
  ra_statuses: listOf(isNumber),
  ra_max_ms: orNull(isNumber),
  ra_over: oneOf('clamp', 'giveup'),
  timeout_ms: orNull(isNumber),
  on_timeout: oneOf('retry', 'fail'),
  total_ms: orNull(isNumber),
};

const THEN: Readonly<Record<string, Test>> = {
  attempts: isBound,
  status: isNumber,
  body: isText,
  retryable: isFlag,
  error: orNull(isText),
  delays_ms: listOf(isBound),
  body_each: isText,
  elapsed_ms: isBound,
  hook_calls: isNumber,
  note: isText,
};
