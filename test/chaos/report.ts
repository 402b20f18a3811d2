import type { Browser } from '@playwright/test';
import type { Evidence } from './evidence.ts';
import { type Invariant, isResentByBrowser, judge, type Problem } from './invariants.ts';
import { createPlan, issuesOf, type Plan } from './plan.ts';
import type { Scripts } from './site.ts';
import { live } from './world.ts';

/** One run: what it was made of, and what was wrong. */
export interface Verdict {
  readonly evidence: Evidence;
  readonly problems: ReadonlyMap<Invariant, readonly Problem[]>;
  readonly seconds: number;
}

export async function runChaos(seed: number, requests: number, scripts: Scripts, browser: Browser): Promise<Verdict> {
  const startedAt = performance.now();
  const evidence = await live(createPlan(seed, requests), scripts, browser);
  return { evidence, problems: judge(evidence), seconds: (performance.now() - startedAt) / 1_000 };
}

/** What the run consisted of, in one line. */
export function inOneLine({ evidence, seconds }: Verdict): string {
  const { plan, reports, hits, kills, closes, flips, outbox, memory } = evidence;
  const { before, after } = memory.heapBytes;
  const kept = reports.filter(({ came }) => came.kind === 'answer' && came.kept !== undefined).length;
  return [
    `seed ${plan.seed} (${plan.guards})`,
    `${issuesOf(plan).length} requests`,
    `${faultsOf(plan)} faults`,
    `${hits.length} hits`,
    `${hits.filter(isResentByBrowser).length} that the browser may repeat`,
    `${kills.length} kills`,
    `${closes.length} closes`,
    `${flips.length} flips`,
    `${kept} kept, ${outbox.filter(({ state }) => state === 'sent').length} sent`,
    `heap ${kib(before)} → ${kib(after)} KiB`,
    `${seconds.toFixed(1)} s`,
  ].join(', ');
}

const kib = (bytes: number): number => Math.round(bytes / 1_024);

/** Every problem with all that is known of its request. */
export function trace({ evidence, problems }: Verdict): string[] {
  const issues = new Map(issuesOf(evidence.plan).map((issue) => [issue.id, issue]));
  return [...problems].flatMap(([invariant, found]) =>
    found.flatMap(({ id, what }) => {
      const issue = id === undefined ? undefined : issues.get(id);
      return [
        `✗ ${invariant}: ${id ?? ''} ${what}`,
        ...(issue ? story(issue.id, evidence).map((line) => `    ${line}`) : []),
      ];
    }),
  );
}

/** What happened to one request, in the order of time. */
function story(id: string, { plan, issuedAt, hits, reports, kills, flips, closes, outbox }: Evidence): string[] {
  const issue = issuesOf(plan).find((one) => one.id === id);
  if (issue === undefined) return [];
  const { kind, method, route, shard, origin, key, tab, faults, keepalive } = issue;
  const from = issuedAt.get(id) ?? 0;
  const report = reports.find((one) => one.id === id);
  const to = report?.endedAt ?? Number.POSITIVE_INFINITY;
  const lines: [at: number, text: string][] = [
    [
      from,
      `issued: ${kind} ${method} ${route}-${shard} ${origin} ${key ?? 'no key'} tab ${tab}${keepalive ? ' keepalive' : ''}; faults: ${faults.join(', ')}`,
    ],
    ...hits
      .filter((hit) => hit.id === id || hit.id === `${id}-on`)
      .map(({ at, step, key }): [number, string] => [at, `hit ${key ?? ''}: ${JSON.stringify(step).slice(0, 120)}`]),
    ...(report ? [[report.endedAt, `came: ${JSON.stringify(report.came)}`] satisfies [number, string]] : []),
    ...kills.filter((at) => at >= from - 100 && at <= to).map((at): [number, string] => [at, 'worker stopped']),
    ...flips
      .filter((flip) => flip.to >= from && flip.from <= to)
      .flatMap((flip): [number, string][] => [
        [flip.from, 'offline'],
        [flip.to, 'online'],
      ]),
    ...closes
      .filter((close) => close.tab === tab && close.at >= from && close.at <= to)
      .map(({ at }): [number, string] => [at, 'tab closed']),
    ...outbox
      .filter(({ url }) => url.endsWith(`/wire/${id}`))
      .map(({ queuedAt, state, sends, reason, status }): [number, string] => [
        queuedAt,
        `kept: ${state} after ${sends} sends ${reason ?? ''} ${status ?? ''}`,
      ]),
  ];
  return lines.sort(([one], [other]) => one - other).map(([at, text]) => `${String(at - from).padStart(6)} ms ${text}`);
}

/** What several runs consisted of together. */
export function inAll(verdicts: readonly Verdict[]): string {
  const sum = (of: (evidence: Evidence) => number) =>
    verdicts.reduce((total, { evidence }) => total + of(evidence), 0).toLocaleString('en');
  return [
    `${verdicts.length} ${verdicts.length === 1 ? 'seed' : 'seeds'}`,
    `${sum(({ plan }) => issuesOf(plan).length)} requests`,
    `${sum(({ plan }) => faultsOf(plan))} faults`,
    `${sum(({ hits }) => hits.length)} hits`,
    `${sum(({ kills }) => kills.length)} kills`,
    `${sum(({ closes }) => closes.length)} closes`,
    `${sum(({ flips }) => flips.length)} flips`,
    `${Math.round(verdicts.reduce((total, { seconds }) => total + seconds, 0))} s`,
  ].join(', ');
}

const faultsOf = (plan: Plan): number => issuesOf(plan).reduce((total, { faults }) => total + faults.length, 0);
