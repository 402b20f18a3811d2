import { createHash } from 'node:crypto';
import { bodyOf, type Step } from '../../demo/misbehaving-server.ts';
import type { Evidence, Report, ServerHit } from './evidence.ts';
import { LONGEST_STALL_MS } from './faults.ts';
import { type Issue, isBoxed, issuesOf, onwardOf } from './plan.ts';
import { ATTEMPTS, TOTAL_MS } from './times.ts';

/** What must be true of a run, whatever happened in it. */
export const INVARIANTS = {
  'no lost request': lost,
  'no unexplained duplicate': doubled,
  'no endless wait': waited,
  'no unhandled rejection': complained,
  'no leaked connection': leaked,
  'memory back to base': grown,
  'byte-exact answers': inexact,
} satisfies Readonly<Record<string, (evidence: Evidence, known: Known) => Iterable<Problem>>>;

export type Invariant = keyof typeof INVARIANTS;

export interface Problem {
  /** Of the request that it is about, if it is about one. */
  readonly id?: string;
  readonly what: string;
}

/** How much more than after the warm-up the worker's memory may hold at the end. */
const HEAP_FACTOR = 1.5;
/** Of uploads of 1 MiB, so many at once stay within the 8 MiB that are kept in all. */
export const UPLOADS = 7;
/** What a machine with other things to do may add to any wait. */
const SLACK_MS = 15_000;
/** An origin has its records; more is a leak. */
const MOST_RECORDS = 200;

export function judge(evidence: Evidence): ReadonlyMap<Invariant, readonly Problem[]> {
  const known = know(evidence);
  return new Map(
    Object.entries(INVARIANTS).map(([name, holds]) => [name as Invariant, [...holds(evidence, known)]] as const),
  );
}

/** How long a page may have to wait, given how often its request began anew. */
export const mostMs = (begun: number): number => begun * (TOTAL_MS + LONGEST_STALL_MS) + SLACK_MS;

interface Known {
  readonly issues: readonly Issue[];
  readonly reports: ReadonlyMap<string, Report>;
  hitsOf(id: string): readonly ServerHit[];
  /** Chromium gives a request whose worker was stopped to the next one, once. */
  restarts(issue: Issue): 0 | 1;
  /** How often the network went away while it was under way: that spends no attempt. */
  flips(issue: Issue): number;
  /** How often it may have been begun: with the worker, and with each connection that was cut. */
  begun(issue: Issue): number;
}

function know({ plan, issuedAt, reports, hits, kills, flips }: Evidence): Known {
  const byId = new Map<string, ServerHit[]>();
  for (const hit of hits) byId.set(hit.id, [...(byId.get(hit.id) ?? []), hit]);
  const reportOf = new Map(reports.map((report) => [report.id, report]));
  const lifeOf = ({ id }: Issue) => ({
    from: issuedAt.get(id) ?? Number.POSITIVE_INFINITY,
    to: reportOf.get(id)?.endedAt ?? Number.POSITIVE_INFINITY,
  });
  const restarts = (issue: Issue): 0 | 1 => {
    const { from, to } = lifeOf(issue);
    return kills.some((at) => at >= from && at <= to + CLOCK_MS) ? 1 : 0;
  };
  const hitsOf = (id: string) => byId.get(id) ?? [];
  return {
    issues: issuesOf(plan).filter(({ id }) => issuedAt.has(id)),
    reports: reportOf,
    hitsOf,
    restarts,
    flips(issue) {
      const life = lifeOf(issue);
      return flips.filter(({ from, to }) => from <= life.to + CLOCK_MS && to >= life.from).length;
    },
    begun(issue) {
      const cuts = issue.route === 'resume' ? hitsOf(issue.id).filter(({ step }) => isCut(step)).length : 0;
      return 1 + restarts(issue) + cuts;
    },
  };
}

/** What a kill, an answer and their notes may lie apart. */
const CLOCK_MS = 50;

function* lost({ issuedAt, closes, outbox }: Evidence, known: Known): Iterable<Problem> {
  const { issues, reports, hitsOf } = known;
  for (const issue of issues) {
    const { id } = issue;
    if (!reports.has(id) && !isGone(issue, issuedAt, closes) && !isStuck(issue, known))
      yield { id, what: 'its page has waited for it to the end of the run' };
  }
  for (const { id, came } of reports.values()) {
    if (came.kind !== 'answer' || came.kept === undefined) continue;
    const item = outbox.find((one) => one.id === came.kept);
    if (item === undefined) yield { id, what: 'the outbox has promised it and knows nothing of it' };
    else if (item.state === 'sent') {
      if (!hitsOf(id).some(({ step }) => isTaken(step)))
        yield { id, what: 'the outbox says that it was delivered, and its server has never taken it' };
    } else if (item.state !== 'failed' || item.reason === undefined) {
      yield { id, what: `the outbox still has it (${item.state}) though its server is well` };
    }
  }
}

/** Was its tab closed before it had an answer? */
const isGone = ({ id, tab }: Issue, issuedAt: Evidence['issuedAt'], closes: Evidence['closes']): boolean =>
  closes.some((close) => close.tab === tab && close.at >= (issuedAt.get(id) ?? 0));

/**
 * Chromium (156) never ends the load of a frame whose worker is stopped, also of a worker that does nothing but fetch, and
 * of one whose document breaks off, also without any worker.
 */
function isStuck(issue: Issue, { restarts, hitsOf }: Known): boolean {
  const last = hitsOf(issue.id).at(-1);
  return issue.kind === 'frame' && (restarts(issue) > 0 || (last !== undefined && breaksOff(last.step)));
}

function* doubled({ outbox, kills }: Evidence, known: Known): Iterable<Problem> {
  for (const issue of known.issues) {
    const { id } = issue;
    const hits = known.hitsOf(id);
    const restarts = isIntercepted(issue) ? known.restarts(issue) : 0;
    const resent = hits.filter(isResentByBrowser).length;
    const items = outbox.filter(({ url }) => url.endsWith(`/wire/${id}`));
    const sends = items.reduce((sum, item) => sum + item.sends, 0);
    if (isRepeatable(issue)) {
      const ownWay = attemptsOf(issue) * (known.begun(issue) - (isIntercepted(issue) ? 0 : restarts));
      const kept = sends + (items.length > 0 ? kills.length : 0);
      const most = ownWay + known.flips(issue) * (1 + restarts) + kept + resent;
      if (hits.length > most) yield { id, what: `${hits.length} attempts, at most ${most} are allowed` };
    } else {
      // Kept because it was never sent: a server that says that it has not begun is asked again.
      const counted = items.length > 0 ? hits.filter(({ step }) => !NOT_BEGUN.includes(step.status ?? 200)) : hits;
      const most = 1 + restarts + resent;
      if (counted.length > most)
        yield { id, what: `${issue.method} without a key was sent ${counted.length} times, at most ${most} allowed` };
    }
    const keys = new Set(hits.map(({ key }) => key));
    if (issue.key !== undefined && hits.some(({ key }) => key !== issue.key))
      yield { id, what: `its key is ${issue.key}, sent was ${[...keys].join(' and ')}` };
    if (issue.route === 'box-adds-key' && isBoxed(issue) && hits.some(({ key }) => key === undefined))
      yield { id, what: 'it was sent without the key that its route adds' };
    if (issue.route === 'box-adds-key' && keys.size > 1 + restarts)
      yield { id, what: `it was sent with ${keys.size} keys` };
  }
}

/**
 * Chromium itself sends once more, whatever it is, what is answered with 408 or nothing at all on a connection that was not
 * opened for it. There are such although no server here keeps any (those of requests that were called off while they opened),
 * and on a busy machine a server cannot tell them from others.
 */
export const isResentByBrowser = ({ step: { status, reset, stall } }: ServerHit): boolean =>
  status === 408 || reset === 'headers' || stall === 'headers';

/** What a server says that has not even begun with a request. */
const NOT_BEGUN = [425, 429, 503];

function* waited({ issuedAt, endedAt, closes }: Evidence, known: Known): Iterable<Problem> {
  for (const issue of known.issues) {
    if (isGone(issue, issuedAt, closes) || isStuck(issue, known)) continue;
    const from = issuedAt.get(issue.id) ?? endedAt;
    const tookMs = (known.reports.get(issue.id)?.endedAt ?? endedAt) - from;
    const most = mostMs(known.begun(issue));
    if (tookMs > most) yield { id: issue.id, what: `its page has waited ${tookMs} ms for it, at most ${most} allowed` };
  }
}

function* complained({ complaints }: Evidence): Iterable<Problem> {
  for (const what of complaints) yield { what };
}

function* leaked({ stillOpen, openSockets }: Evidence): Iterable<Problem> {
  for (const id of stillOpen) yield { id, what: 'its connection is still open, and nobody reads it' };
  if (openSockets > POOL) yield { what: `${openSockets} sockets are open, at most ${POOL} may lie ready` };
}

/** What a browser keeps ready for two origins. */
const POOL = 12;

function* grown({ memory: { heapBytes, left, uploadsReplayed } }: Evidence): Iterable<Problem> {
  const { before, after } = heapBytes;
  if (after > before * HEAP_FACTOR)
    yield { what: `the worker's heap went from ${before} to ${after} bytes, at most ${HEAP_FACTOR} times are allowed` };
  for (const name of ['answers', 'fetches', 'timers', 'parked'] as const)
    if (left[name] > 0) yield { what: `${left[name]} ${name} have no end` };
  if (left.records > MOST_RECORDS) yield { what: `${left.records} records are kept` };
  if (uploadsReplayed < UPLOADS)
    yield {
      what: `only ${uploadsReplayed} of ${UPLOADS} MiB could be kept for replay: earlier bodies were not let go`,
    };
}

function* inexact({ site }: Evidence, known: Known): Iterable<Problem> {
  for (const issue of known.issues) {
    const { id } = issue;
    const hits = known.hitsOf(id);
    if (hits.some(({ body }) => body === 'other'))
      yield { id, what: 'its server got other bytes than its page has sent' };
    const came = known.reports.get(id)?.came;
    if (came?.kind === 'loaded') {
      const proof = proofOf(issue, hits);
      if (!proof.includes(came.proof)) yield { id, what: `what was loaded shows "${came.proof}", not its own body` };
    }
    if (came?.kind !== 'answer' || isOurs(issue, came)) continue;
    const onward = known.hitsOf(onwardOf(id));
    const answers = [...hits, ...onward].flatMap(({ step }) => wholeBodies(step, issue));
    const { status, sha256, bytes } = came;
    if (!answers.some((answer) => answer.status === status && answer.sha256 === sha256))
      yield { id, what: `status ${status} with ${bytes} bytes is no answer that its server has given whole` };
    const paths = [id, ...(onward.length > 0 ? [onwardOf(id)] : [])].map((one) => `${site[issue.origin]}/wire/${one}`);
    if (!paths.includes(came.url.replace(/[?].*/s, '')))
      yield { id, what: `its answer says that it is from ${came.url}` };
  }
}

/** Answered by the layer itself, because its route asks for it. */
function isOurs({ route }: Issue, { status, type, kept }: Report['came'] & { kind: 'answer' }): boolean {
  return kept !== undefined || (route === 'reject' && status === 503 && type.startsWith('application/problem+json'));
}

/** What can be read of an answer without an error, if anything can: one that is cut is none. */
function wholeBodies(step: Step, { method, route }: Issue): { status: number; sha256: string }[] {
  if (step.redirect !== undefined) return [];
  const status = step.status ?? 200;
  if (method === 'HEAD') return [{ status, sha256: sha256Of(Buffer.alloc(0)) }];
  if (step.endless === true) return [];
  if (isCut(step) && !(route === 'resume' && status === 200)) return [];
  const body = bodyOf(step, status);
  const declared = step.contentLength ?? body.length;
  return [{ status, sha256: sha256Of(declared < body.length ? body.subarray(0, declared) : body) }];
}

const isCut = (step: Step): boolean =>
  breaksOff(step) ||
  step.stall !== undefined ||
  step.reset !== undefined ||
  step.headers?.['Content-Encoding'] !== undefined ||
  step.headers?.['X-Flood'] !== undefined;

/** Does its body end before it is whole? */
const breaksOff = (step: Step): boolean =>
  step.stall === 'body' ||
  step.reset === 'body' ||
  step.truncate === true ||
  (step.contentLength ?? 0) > bodyOf(step, step.status ?? 200).length;

const isTaken = (step: Step): boolean => {
  const { status = 200, stall, reset, redirect } = step;
  return redirect === undefined && stall !== 'headers' && reset !== 'headers' && status >= 200 && status < 300;
};

function proofOf({ id, kind }: Issue, hits: readonly ServerHit[]): string[] {
  const whole = hits.some(({ step }) => isTaken(step) && !isCut(step));
  // A document shows whatever its server has answered, and the browser's own page where it has not.
  const shown = kind === 'frame' ? ['', ...hits.map(({ step }) => `status ${step.status}`)] : [];
  return whole ? [id, ...shown] : shown;
}

const isIntercepted = (issue: Issue): boolean => issue.route !== 'left' && (isRepeatable(issue) || isBoxed(issue));

function isRepeatable({ method, key, route }: Issue): boolean {
  if (route === 'left') return false;
  return ['GET', 'HEAD', 'PUT', 'DELETE'].includes(method) || key !== undefined || route === 'box-adds-key';
}

const attemptsOf = ({ kind, route }: Issue): number => (kind === 'bridge' || route === 'left' ? 1 : ATTEMPTS);

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
