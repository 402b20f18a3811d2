import type { RetryFetchOptions } from '../../src/fetch/options.ts';
import { assembleRetryFetch, type RetryFetch } from '../../src/fetch/retry-fetch.ts';
import { CIRCUIT_DEFAULTS } from '../../src/policy/circuit.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import type { LayerEvent } from '../../src/protocol/events.ts';
import { EXACT, NEVER_OPENS } from './engine-world.ts';
import type { MemoryStore } from './memory-store.ts';
import { type Answer, createNetwork, type Network } from './scripted-network.ts';
import { createVirtualTime, type Sleeper, type VirtualTime, virtualPorts } from './virtual-time.ts';

export interface FetchWorldOptions extends Omit<RetryFetchOptions, 'fetch' | 'onEvent'> {
  readonly script?: readonly Answer[] | ((request: Request, earlier: number) => Answer);
  readonly policy?: Partial<RetryPolicy>;
  readonly time?: VirtualTime;
  readonly random?: () => number;
  readonly isOnline?: () => boolean;
  readonly isControlled?: () => boolean;
  readonly store?: MemoryStore;
}

/** A retrying fetch and everything around it, under the control of a test. */
export interface FetchWorld {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly retryFetch: RetryFetch;
  readonly events: LayerEvent[];
  readonly warnings: unknown[];
  /** The timers of requests. */
  readonly sleeper: Sleeper;
  /** The device says that it is back online. */
  goOnline(): void;
}

export function createFetchWorld({
  script = [200],
  policy = {},
  time = createVirtualTime(),
  random,
  isOnline,
  isControlled = () => false,
  store,
  circuit = NEVER_OPENS,
  ...options
}: FetchWorldOptions = {}): FetchWorld {
  const network = createNetwork(time, script);
  const sleeper = time.sleeper();
  const chance = { ...(random ? { random } : {}), ...(isOnline ? { isOnline } : {}) };
  const events: LayerEvent[] = [];
  const warnings: unknown[] = [];
  const online: (() => void)[] = [];
  const retryFetch = assembleRetryFetch(
    { ...EXACT, ...policy },
    { ...options, circuit: { ...CIRCUIT_DEFAULTS, ...circuit }, onEvent: (event) => events.push(event) },
    {
      ports: virtualPorts(time, sleeper, network.fetch, chance),
      idle: virtualPorts(time, time.sleeper(), network.fetch, chance),
      ...(store ? { store } : {}),
      ownOrigin: 'https://app.test',
      isControlled,
      onOnline: (listener) => online.push(listener),
    },
    (what, detail) => warnings.push([what, detail]),
  );
  return {
    time,
    network,
    retryFetch,
    events,
    warnings,
    sleeper,
    goOnline() {
      for (const listener of online) listener();
    },
  };
}
