import type { Step } from '../misbehaving-server.ts';

export const BYTES = 24 * 1024 * 1024;
/** Where each of the connections breaks, as a share of the whole. */
export const BREAKS = [0.13, 0.31, 0.44, 0.68, 0.87] as const;

/** Five connections that break off, and one that does not. */
export function brokenPlan(): readonly Step[] {
  const whole: Step = { bytes: BYTES, ranges: true, headers: { ETag: '"one"' } };
  const sent = BREAKS.map((at, index) => Math.floor(at * BYTES) - Math.floor((BREAKS[index - 1] ?? 0) * BYTES));
  return [...sent.map((sentBytes): Step => ({ ...whole, sentBytes, reset: 'body' })), whole];
}

export interface Download {
  readonly bytes: number;
  /** Of what came, in hexadecimal digits. */
  readonly sha256: string;
  readonly whole: boolean;
}

/** Reads to the end, or to where it breaks off for good. */
export async function download(url: string, onBytes: (bytes: number) => void): Promise<Download> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let whole = false;
  try {
    const { body } = await fetch(url);
    const reader = body?.getReader();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      pieces.push(read.value);
      bytes += read.value.length;
      onBytes(bytes);
    }
    whole = true;
  } catch {
    // What has come is shown.
  }
  return { bytes, whole, sha256: await sha256(new Blob(pieces)) };
}

/** The digest of the file as it is on the server: byte `i` is `i % 251`. */
export const expectedSha256 = (): Promise<string> =>
  sha256(new Blob([Uint8Array.from({ length: BYTES }, (_, at) => at % 251)]));

async function sha256(blob: Blob): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await blob.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
