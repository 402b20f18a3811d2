/** The version of this package; page and worker tell each other theirs. */
export const VERSION = '0.1.0';

/** What to do about a page and a worker that do not fit, in the words of a warning. */
export const REMEDY =
  'bring the older up to date: rebuild it, or if it is a copy beside your worker, run `npx steadfetch init <directory>`';

/** The shape of the messages between page and worker; a message of another shape is not understood at all. */
export const PROTOCOL = 1;

/** Where everything that is remembered is kept. */
export const DATABASE = 'steadfetch';

/** Where requests are kept that are still to be delivered; apart, so that nothing that happens to the other harms them. */
export const OUTBOX_DATABASE = 'steadfetch-outbox';

/** The beginning of the name of the cache that holds the offline page of a scope. */
export const OFFLINE_CACHE = 'steadfetch-offline-page';

/** Page and worker may differ by one minor version, as they do for a while after every update. */
export function isCompatible(ours: string, theirs: string): boolean {
  const [a, b] = [parseVersion(ours), parseVersion(theirs)];
  return a !== undefined && b !== undefined && a.major === b.major && Math.abs(a.minor - b.minor) <= 1;
}

function parseVersion(version: string): { major: number; minor: number } | undefined {
  const parts = /^(\d+)\.(\d+)\.\d+/.exec(version);
  return parts ? { major: Number(parts[1]), minor: Number(parts[2]) } : undefined;
}
