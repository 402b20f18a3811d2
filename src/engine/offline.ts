import type { Ports } from './ports.js';

/** Chromium has no `online` event in workers, so the device is asked. */
const ASK_EVERY_MS = 500;

/** Resolves to true when the device says that it is online, to false when the deadline comes first. */
export async function untilOnline(ports: Ports, deadline: number): Promise<boolean> {
  while (!ports.isOnline()) {
    const leftMs = deadline - ports.now();
    if (leftMs <= 0) return false;
    await ports.sleep(Math.min(ASK_EVERY_MS, leftMs)).done;
  }
  return ports.now() < deadline;
}
