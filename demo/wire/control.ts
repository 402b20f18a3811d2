import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { MisbehavingServer } from '../misbehaving-server.ts';
import type { Hit } from './hit-log.ts';
import { readPlanText } from './step.ts';
import { readWeather } from './weather.ts';

/** What `/wire-control/hits/<id>` lists: a hit with its body's size and digest in place of the bytes. */
export interface HitReport extends Omit<Hit, 'body'> {
  readonly bodyBytes: number;
  readonly bodySha256: string;
}

/** What `/wire-control/events` streams, one per hit, when it arrives. */
export interface HitEvent extends Pick<Hit, 'id' | 'n' | 'at' | 'method' | 'origin'> {
  readonly path: string;
  /** The step this hit met. */
  readonly step: object;
  /** The status it will get, or null if it will see none. */
  readonly status: number | null;
}

/** `name` and `id` are the two segments after `/wire-control/`. */
export async function control(
  server: MisbehavingServer,
  name: string,
  id: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  switch (name) {
    case 'plan': {
      if (!isMethod('PUT', req, res)) return;
      if (id === '') return reply(res, 404, 'Name the plan: /wire-control/plan/<id>.');
      const plan = readPlanText(await text(req));
      if ('problem' in plan) return reply(res, 400, plan.problem);
      server.plan(id, plan.steps);
      return reply(res, 204);
    }
    case 'play': {
      if (!isMethod('PUT', req, res)) return;
      if (id === '') return reply(res, 404, 'Name whose weather it is: /wire-control/play/<id>.');
      const weather = readWeather(jsonOf(await text(req)));
      if ('problem' in weather) return reply(res, 400, weather.problem);
      server.play(id, weather.phases);
      return reply(res, 204);
    }
    case 'hits': {
      if (!isMethod('GET', req, res)) return;
      const hits = server.hits(id === '' ? undefined : id);
      return reply(res, 200, JSON.stringify(hits.map(toReport)), 'application/json');
    }
    case 'clear': {
      if (!isMethod('POST', req, res)) return;
      server.clear();
      return reply(res, 204);
    }
    case 'events': {
      if (!isMethod('GET', req, res)) return;
      return stream(server, res);
    }
    default:
      return reply(res, 404, `Unknown control "${name}"; there are plan, play, hits, clear and events.`);
  }
}

/** A short whole answer on a connection that is not used again. */
export function reply(res: ServerResponse, status: number, body = '', type = 'text/plain'): void {
  res.writeHead(status, {
    'cache-control': 'no-store',
    connection: 'close',
    ...(status !== 204 && { 'content-type': type }),
  });
  res.end(body);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMethod(wanted: string, req: IncomingMessage, res: ServerResponse): boolean {
  if (req.method === wanted) return true;
  res.setHeader('allow', wanted);
  reply(res, 405, `Use ${wanted}, not ${req.method}.`);
  return false;
}

function toReport({ body, ...hit }: Hit): HitReport {
  return { ...hit, bodyBytes: body.length, bodySha256: createHash('sha256').update(body).digest('hex') };
}

function stream(server: MisbehavingServer, res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'close' });
  res.flushHeaders();
  const stop = server.onHit(({ id, n, at, method, url, origin }, step) => {
    const seesNone = step.stall === 'headers' || step.reset === 'headers';
    const status = seesNone ? null : (step.status ?? (step.redirect === undefined ? 200 : 302));
    const event: HitEvent = { id, n, at, method, origin, path: url, step, status };
    res.write(`data: ${JSON.stringify(event)}\n\n`);
  });
  res.once('close', stop);
}
