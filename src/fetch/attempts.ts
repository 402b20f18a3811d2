/** An error that says how often was tried. It is the one that was thrown, not one in its place. */
export function withAttempts(error: unknown, attempts: number): unknown {
  if (typeof error !== 'object' || error === null || !Object.isExtensible(error)) return error;
  try {
    Object.defineProperty(error, 'attempts', { value: attempts, enumerable: true, configurable: true, writable: true });
  } catch {
    // It has one of its own that cannot be changed.
  }
  return error;
}
