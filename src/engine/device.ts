/**
 * Tells trouble of the device's own network from trouble of a server: an error while the device is offline or within a
 * second of a change, or errors of two origins within the same second, are nobody's fault out there.
 */
export interface Device {
  /** Notes a network error of `origin` at `at`; true if it is not to be held against the origin. */
  isSuspect(origin: string, at: number): boolean;
  /** The device has gone offline or come back. */
  changed(at: number): void;
}

const SAME_MS = 1_000;

export function createDevice(isOnline: () => boolean, onOthers: (origin: string, since: number) => void): Device {
  let wasOnline: boolean | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;
  /** The last error of each origin within the last second. */
  const errors = new Map<string, number>();

  return {
    isSuspect(origin, at) {
      const online = isOnline();
      if (wasOnline !== undefined && online !== wasOnline) changedAt = at;
      wasOnline = online;
      for (const [other, when] of errors) if (at - when > SAME_MS) errors.delete(other);
      const others = [...errors.keys()].filter((other) => other !== origin);
      errors.set(origin, at);
      // The first of them was taken for a fault of its server: that is taken back.
      if (others.length > 0) for (const other of others) onOthers(other, at - SAME_MS);
      return !online || at - changedAt <= SAME_MS || others.length > 0;
    },
    changed(at) {
      changedAt = at;
      wasOnline = isOnline();
    },
  };
}
