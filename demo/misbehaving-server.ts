import type { IncomingMessage, ServerResponse } from 'node:http';
import { carryOut } from './wire/carry-out.ts';
import { control, reply } from './wire/control.ts';
import { corsHeaders, isPreflight, preflightHeaders } from './wire/cors.ts';
import { createHitLog, type Hit, type WireOrigin } from './wire/hit-log.ts';
import { readPlan, readPlanText, type Step } from './wire/step.ts';
import { createWeather, type Phase, readWeather, type Weather } from './wire/weather.ts';

export { bodyOf, generatedBytes } from './wire/carry-out.ts';
export type { HitEvent, HitReport } from './wire/control.ts';
export type { Hit, WireOrigin } from './wire/hit-log.ts';
export type { RetryAfter, Step } from './wire/step.ts';
export type { Phase } from './wire/weather.ts';

/** Answers as it was told to, on the wire and not by a mock, and remembers what it was asked. */
export interface MisbehavingServer {
  /** Answers a request under `/wire/` or `/wire-control/`; false: the request is not for this server and was left alone. */
  handle(req: IncomingMessage, res: ServerResponse, origin?: WireOrigin): boolean;
  /**
   * Hit number n of `/wire/<id>` gets step n, later ones the last step. Forgets the earlier hits of that id.
   *
   * @throws TypeError with one sentence that names the field when a step is not usable.
   */
  plan(id: string, steps: readonly Step[]): void;
  /**
   * From now on hits of `/wire/<id>` get what the time says, not their number. Forgets none of them.
   *
   * @throws TypeError with one sentence that names the field when a phase is not usable.
   */
  play(id: string, phases: readonly Phase[]): void;
  /** In order of arrival. */
  hits(id?: string): readonly Hit[];
  /** Forgets every plan and hit. Answers under way go on. */
  clear(): void;
  /** Called when a hit arrives, before its body; returns the way to stop it. */
  onHit(listener: HitListener): () => void;
}

export type HitListener = (hit: Hit, step: Step) => void;

export function createMisbehavingServer(): MisbehavingServer {
  const plans = new Map<string, readonly Step[]>();
  const weathers = new Map<string, Weather>();
  const listeners = new Set<HitListener>();
  const log = createHitLog();

  const server: MisbehavingServer = {
    handle(req, res, origin = 'first') {
      const [path = '', search = ''] = splitOnce(req.url ?? '', '?');
      const [, area, name = '', id = ''] = path.split('/');
      if (area === 'wire-control') {
        settle(control(server, decoded(name), decoded(id), req, res), res);
      } else if (area === 'wire' && name !== '') {
        answer(decoded(name), new URLSearchParams(search), origin, req, res);
      } else {
        return false;
      }
      return true;
    },
    plan(id, steps) {
      const plan = readPlan(steps);
      if ('problem' in plan) throw new TypeError(plan.problem);
      plans.set(id, plan.steps);
      weathers.delete(id);
      log.forget(id);
    },
    play(id, phases) {
      const weather = readWeather(phases);
      if ('problem' in weather) throw new TypeError(weather.problem);
      weathers.set(id, createWeather(weather.phases, Date.now()));
    },
    hits: (id) => log.list(id),
    clear() {
      plans.clear();
      weathers.clear();
      log.forget();
    },
    onHit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return server;

  function answer(
    id: string,
    query: URLSearchParams,
    origin: WireOrigin,
    req: IncomingMessage,
    res: ServerResponse,
  ): void {
    if (origin === 'second' && isPreflight(req)) {
      res.writeHead(204, preflightHeaders(req, query)).end();
      return;
    }
    const extraHeaders = origin === 'second' ? corsHeaders(req, query) : {};
    const plan = planFor(id, query);
    if ('problem' in plan) {
      for (const [name, value] of Object.entries(extraHeaders)) if (value !== undefined) res.setHeader(name, value);
      reply(res, 400, plan.problem);
      return;
    }
    const hit = log.open(id, origin, req, res);
    const picture = hit.picture();
    const step = weathers.get(id)?.next(picture.at) ?? plan.steps[Math.min(picture.n, plan.steps.length) - 1] ?? {};
    for (const listener of listeners) listener(picture, step);
    settle(carryOut(step, { req, res, received: hit.received, extraHeaders }), res);
  }

  function planFor(id: string, query: URLSearchParams) {
    const steps = plans.get(id);
    if (steps !== undefined) return { steps };
    const asked = query.get('plan');
    return asked === null ? { steps: [] } : readPlanText(asked);
  }
}

/** A fault of the server itself must look like one, and must not end the process that serves the tests. */
function settle(work: Promise<void>, res: ServerResponse): void {
  work.catch((error: unknown) => {
    if (res.headersSent || res.destroyed) res.destroy();
    else reply(res, 500, String(error));
  });
}

function splitOnce(text: string, at: string): readonly string[] {
  const place = text.indexOf(at);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + at.length)];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
