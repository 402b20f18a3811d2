import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMisbehavingServer, type Hit, type Step } from '../../demo/misbehaving-server.ts';

/** A misbehaving server on a port of its own. */
export interface Wire {
  /** Sets what a URL of its own answers, hit by hit. */
  plan(steps: readonly Step[]): { readonly url: string; hits(): readonly Hit[] };
  close(): Promise<void>;
}

export async function openWire(): Promise<Wire> {
  const wire = createMisbehavingServer();
  const http = createServer((req, res) => {
    if (!wire.handle(req, res)) res.end('not mine');
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  let planned = 0;
  return {
    plan(steps) {
      const id = `w${++planned}`;
      wire.plan(id, steps);
      return { url: `http://127.0.0.1:${port}/wire/${id}`, hits: () => wire.hits(id) };
    },
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
