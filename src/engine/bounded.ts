/** No more than there are records: a page that asks many origins must not fill a worker's memory. */
const MOST_KEYS = 200;

/** Sets what is remembered of one of many origins; the one that was first set makes room. */
export function setBounded<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size <= MOST_KEYS) return;
  const [oldest = key] = map.keys();
  map.delete(oldest);
}
