import type { HitReport } from '../misbehaving-server.ts';
import { setPlan } from '../wire-client.ts';

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

export function createShop(): Shop {
  const id = `order-${idOfBrowser()}`;
  // The misbehaving server remembers less than a shop: each new plan makes it forget what it was asked.
  let isUp = localStorage.getItem('shop-is-away') === null;
  let taken: ReadonlyMap<string, string> = new Map(JSON.parse(localStorage.getItem('shop-taken') ?? '[]'));

  async function look(): Promise<void> {
    if (!isUp) return;
    taken = new Map([...taken, ...(await takenBy(id))]);
    localStorage.setItem('shop-taken', JSON.stringify([...taken]));
  }

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
    isUp: () => isUp,
    async setUp(up) {
      await look();
      await setPlan(id, [up ? { status: 201, body: 'taken' } : { reset: 'headers' }]);
      isUp = up;
      if (up) localStorage.removeItem('shop-is-away');
      else localStorage.setItem('shop-is-away', '');
    },
    async delivered() {
      await look();
      return [...taken.values()];
    },
  };
}

/** By key: an order that came twice has the same. */
async function takenBy(id: string): Promise<ReadonlyMap<string, string>> {
  try {
    const hits: readonly HitReport[] = await (await fetch(`/wire-control/hits/${id}`)).json();
    const orders = hits.map(({ headers, url, at }): [string, string] => {
      const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1] ?? String(at);
      const { searchParams } = new URL(url, location.origin);
      return [key, `${searchParams.get('cups')} × ${searchParams.get('tea')}`];
    });
    return new Map(orders);
  } catch {
    return new Map();
  }
}

/** The same after a reload and in the installed app: what was kept is for this address. */
function idOfBrowser(): string {
  const known = localStorage.getItem('shop');
  if (known !== null) return known;
  const made = Math.random().toString(36).slice(2, 8);
  localStorage.setItem('shop', made);
  return made;
}
