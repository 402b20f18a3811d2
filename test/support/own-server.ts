import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One request to it: when it came, and when its connection was closed. */
export interface Visit {
  readonly at: number;
  closedAt?: number;
}

export interface OwnServer {
  /** Of another port of the host that serves the pages: another origin, open to them. */
  readonly url: string;
  readonly visits: readonly Visit[];
  close(): Promise<void>;
}

/** A server whose answers are written by hand, where a plan has no words for what is to come when. */
export async function ownServer(
  answer: (res: ServerResponse, n: number, req: IncomingMessage) => void | Promise<void>,
): Promise<OwnServer> {
  const visits: Visit[] = [];
  const server = createServer((req, res) => {
    const visit: Visit = { at: Date.now() };
    visits.push(visit);
    res.once('close', () => {
      visit.closedAt = Date.now();
    });
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Connection', 'close');
    void answer(res, visits.length, req);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    visits,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Pieces of a body, each after its wait. */
export async function pieces(
  res: ServerResponse,
  parts: readonly { readonly afterMs: number; readonly text: string }[],
): Promise<void> {
  for (const { afterMs, text } of parts) {
    await sleep(afterMs);
    res.write(text);
  }
}
