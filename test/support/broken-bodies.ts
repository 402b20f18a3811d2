import type { Answer } from './scripted-network.ts';

/** `text`, and then a lost connection; at once, or when the network gets to it. */
export const cutAfter = (text: string) => (): ReadableStream<Uint8Array> => {
  let left: string | undefined = text;
  return new ReadableStream(
    {
      pull(to) {
        if (left) to.enqueue(new TextEncoder().encode(left));
        else to.error(new TypeError(`lost after '${text.slice(0, 20)}'`));
        left = undefined;
      },
    },
    { highWaterMark: 0 },
  );
};

/** A server that has byte ranges of `whole`. */
export const rangesOf = (whole: string, etag = '"v1"') => {
  const length = String(whole.length);
  const headers = { 'Accept-Ranges': 'bytes', ETag: etag };
  return {
    /** All of it; `cutAt`: as far as that. */
    all: (cutAt?: number): Answer & object => ({
      headers: { ...headers, 'Content-Length': length },
      body: cutAt === undefined ? whole : cutAfter(whole.slice(0, cutAt)),
    }),
    /** From `first` on. */
    from: (first: number, cutAt?: number): Answer & object => ({
      status: 206,
      headers: { ...headers, 'Content-Range': `bytes ${first}-${whole.length - 1}/${length}` },
      body: cutAt === undefined ? whole.slice(first) : cutAfter(whole.slice(first, cutAt)),
    }),
  };
};
