/** What a `Content-Range` says (RFC 9110 §14.4): which bytes there are, or that there are none where they were asked for. */
export type ContentRange =
  /** Positions count from zero, and `last` is one of them. Without `total` the length is not known. */
  | { readonly first: number; readonly last: number; readonly total?: number }
  /** `bytes *\/total`: the answer to a range that begins at the end or after it. */
  | { readonly total: number };

/** `undefined` for whatever is none, and for one that contradicts itself. */
export function parseContentRange(value: string | null): ContentRange | undefined {
  const [, start, end, length] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/i.exec(value ?? '') ?? [];
  const total = toNumber(length);
  if (start === undefined) return total === undefined ? undefined : { total };
  const [first, last] = [toNumber(start), toNumber(end)];
  if (first === undefined || last === undefined || first > last) return undefined;
  if (length === '*') return { first, last };
  return total !== undefined && last < total ? { first, last, total } : undefined;
}

/** Digits only; what a number cannot hold exactly is no position. */
export function toNumber(digits = ''): number | undefined {
  const number = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
