import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request as it arrived: a picture of what is known now, which does not change later. */
export interface Hit {
  readonly id: string;
  /** The how manieth of its id, from 1. */
  readonly n: number;
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly origin: WireOrigin;
  /** As they were written, doubles included. */
  readonly headers: readonly (readonly [string, string])[];
  /** The whole body, or what had come of it. */
  readonly body: Buffer;
  /** When the answer was finished or its socket closed; absent until then. */
  readonly closedAt?: number;
  /** Whether all that the step had to send was sent; absent until closed. */
  readonly complete?: boolean;
}

export type WireOrigin = 'first' | 'second';

export interface HitLog {
  /** Writes the request down as it arrives and follows it until it has closed. */
  open(id: string, origin: WireOrigin, req: IncomingMessage, res: ServerResponse): OpenHit;
  list(id?: string): readonly Hit[];
  forget(id?: string): void;
}

export interface OpenHit {
  picture(): Hit;
  /** Settles when the request's body is whole or can no longer become so. */
  readonly received: Promise<void>;
}

export function createHitLog(): HitLog {
  const hitsById = new Map<string, OpenHit[]>();
  const order = new WeakMap<OpenHit, number>();
  let opened = 0;

  return {
    open(id, origin, req, res) {
      const hits = hitsById.get(id) ?? [];
      hitsById.set(id, hits);
      const hit = follow(id, hits.length + 1, origin, req, res);
      hits.push(hit);
      order.set(hit, opened++);
      return hit;
    },
    list(id) {
      const hits = id === undefined ? [...hitsById.values()].flat() : (hitsById.get(id) ?? []);
      return hits.toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0)).map((hit) => hit.picture());
    },
    forget(id) {
      if (id === undefined) hitsById.clear();
      else hitsById.delete(id);
    },
  };
}

function follow(id: string, n: number, origin: WireOrigin, req: IncomingMessage, res: ServerResponse): OpenHit {
  const chunks: Buffer[] = [];
  let closing: Pick<Hit, 'closedAt' | 'complete'> = {};
  const arrived = {
    id,
    n,
    at: Date.now(),
    method: req.method ?? '',
    url: req.url ?? '',
    origin,
    headers: headerPairs(req.rawHeaders),
  };
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  res.once('close', () => {
    closing = { closedAt: Date.now(), complete: res.writableFinished };
  });
  return {
    picture: () => ({ ...arrived, body: Buffer.concat(chunks), ...closing }),
    received: new Promise((resolve) => {
      req.once('end', resolve);
      req.once('close', resolve);
    }),
  };
}

function headerPairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return pairs;
}
