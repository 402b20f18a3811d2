/** Is this page one of the share that has retries? The same answer for a page as long as it lives (FNV-1a). */
export function isSampled(clientId: string, share: number): boolean {
  if (share >= 1) return true;
  let hash = 0x811c9dc5;
  for (let index = 0; index < clientId.length; index += 1) {
    hash = Math.imul(hash ^ clientId.charCodeAt(index), 0x01000193);
  }
  // The low bits of short texts are the better mixed ones once the high ones are folded in.
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32 < share;
}
