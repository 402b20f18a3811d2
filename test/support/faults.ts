import type { Call, Engine } from '../../src/engine/call.ts';

/** Everything of ours that a request's way leads through, and that may fail. */
export const SITES = [
  'fetch',
  'now',
  'monotonic',
  'random',
  'sleep',
  'isOnline',
  'savesData',
  'loading',
  'look',
  'isNew',
  'backOnline',
  'park',
  'release',
  'isEmpty',
  'isFirstAfter',
  'isSuspect',
  'onSuccess',
  'affords',
  'record',
  'noticesExhaustion',
  'written',
  'enter',
  'tell',
  'keepAlive',
  'Request#clone',
  'Response#clone',
] as const;
export type Site = (typeof SITES)[number];

/** What is thrown where a test wants a fault. */
export class Fault extends Error {}

export interface Injection {
  readonly site: Site;
  /** The call that fails, 1-based. */
  readonly call: number;
  /** Whether later ones fail as well. */
  readonly again: boolean;
}

/** Counts every call of every site, and makes one of them throw. */
export function createFaults(injection?: Injection) {
  const counts = Object.fromEntries(SITES.map((site) => [site, 0])) as Record<Site, number>;

  const at = (site: Site): void => {
    counts[site] += 1;
    if (injection?.site !== site) return;
    const { call, again } = injection;
    if (again ? counts[site] >= call : counts[site] === call) throw new Fault(`${site} failed at call ${call}`);
  };

  const passing =
    <Args extends unknown[], Result>(site: Site, work: (...args: Args) => Result) =>
    (...args: Args): Result => {
      at(site);
      return work(...args);
    };

  const withClone = <T extends Request | Response>(of: T, site: Site): T => {
    of.clone = passing(site, of.clone.bind(of) as () => T) as never;
    return of;
  };

  return {
    counts,
    /** For a network's `prepare`. */
    response: (response: Response): Response => withClone(response, 'Response#clone'),
    engine({ ports, book, races, parking, device, onSuccess, ...rest }: Engine): Engine {
      return {
        ...rest,
        ports: {
          fetch: passing('fetch', ports.fetch),
          now: passing('now', ports.now),
          monotonic: passing('monotonic', ports.monotonic),
          random: passing('random', ports.random),
          sleep: passing('sleep', ports.sleep),
          isOnline: passing('isOnline', ports.isOnline),
          savesData: passing('savesData', ports.savesData),
        },
        book: {
          ...book,
          loading: passing('loading', book.loading),
          look: passing('look', book.look),
          isNew: passing('isNew', book.isNew),
          backOnline: passing('backOnline', book.backOnline),
          affords: passing('affords', book.affords),
          record: passing('record', book.record),
          noticesExhaustion: passing('noticesExhaustion', book.noticesExhaustion),
          written: passing('written', book.written),
        },
        parking: {
          ...parking,
          park: passing('park', parking.park),
          release: passing('release', parking.release),
          isEmpty: passing('isEmpty', parking.isEmpty),
          isFirstAfter: passing('isFirstAfter', parking.isFirstAfter),
        },
        device: { ...device, isSuspect: passing('isSuspect', device.isSuspect) },
        onSuccess: passing('onSuccess', onSuccess),
        races: { enter: passing('enter', races.enter) },
      };
    },
    call(call: Call): Call {
      return {
        ...call,
        request: withClone(call.request, 'Request#clone'),
        tell: passing('tell', call.tell),
        keepAlive: passing('keepAlive', call.keepAlive),
      };
    },
  };
}
