import type { HitReport } from '../misbehaving-server.ts';
import { setWeather } from '../wire-client.ts';

export interface Order {
  readonly tea: string;
  readonly cups: number;
}

/** The server of the tea shop, which is one of the misbehaving server's. */
export interface Shop {
  /** Sends it and says in words what has become of it. */
  order(order: Order): Promise<string>;
  /** As it was left, also before a reload. */
  isUp(): boolean;
  setUp(up: boolean): Promise<void>;
  /** What it has taken: each order once, however often it came. */
  delivered(): Promise<readonly string[]>;
}

/** A reload does not open the shop again. */
const AWAY = 'shop-is-away';

export function createShop(): Shop {
  const id = `order-${idOfBrowser()}`;
  return {
    async order(order) {
      let answer: Response;
      try {
        answer = await fetch(`/wire/${id}?tea=${encodeURIComponent(order.tea)}&cups=${order.cups}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(order),
        });
      } catch {
        return 'It could not be sent, and it is not kept: no worker answers for this page.';
      }
      if (answer.status === 202) return 'The server cannot be reached. The order is kept, and will be delivered.';
      return answer.ok ? 'Ordered.' : `The server says no: ${answer.status}.`;
    },
    isUp: () => localStorage.getItem(AWAY) === null,
    async setUp(up) {
      // By its weather, not by a plan, which would make it forget what it has taken.
      await setWeather(id, [{ forMs: 1, step: up ? { status: 201, body: 'taken' } : { reset: 'headers' } }]);
      if (up) localStorage.removeItem(AWAY);
      else localStorage.setItem(AWAY, '');
    },
    async delivered() {
      const hits: readonly HitReport[] = await (await fetch(`/wire-control/hits/${id}`)).json();
      // What it has hung up on was not answered whole.
      return [...new Map(hits.filter(({ complete }) => complete).map(toOrder)).values()];
    },
  };
}

/** By key: an order that came twice has the same. */
function toOrder({ headers, url, at }: HitReport): [key: string, order: string] {
  const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1] ?? String(at);
  const { searchParams } = new URL(url, location.origin);
  return [key, `${searchParams.get('cups')} × ${searchParams.get('tea')}`];
}

/** The same after a reload and in the installed app: what was kept is for this address. */
function idOfBrowser(): string {
  const known = localStorage.getItem('shop');
  if (known !== null) return known;
  const made = Math.random().toString(36).slice(2, 8);
  localStorage.setItem('shop', made);
  return made;
}
