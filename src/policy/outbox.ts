/** What becomes of a route's requests that cannot be delivered. */
export interface OutboxPolicy {
  /** Entries of one name share its limits and, by default, its order. @defaultValue 'outbox' */
  readonly name: string;
  /**
   * What the page gets for a request that is kept: `accepted` is a 202 with the entry's id, `error` what it would have
   * got without an outbox. @defaultValue 'accepted'
   */
  readonly answer: 'accepted' | 'error';
  /**
   * What is sent in the order in which it came: everything of this outbox, what has the same URL, or nothing; entries of
   * other orders overtake one that waits. @defaultValue 'outbox'
   */
  readonly orderBy: 'outbox' | 'url' | 'none';
  /**
   * Gives requests to this origin an `Idempotency-Key` if they have none: their server has to know it. @defaultValue false
   */
  readonly addKey: boolean;
  /** Where the browser goes after a form was kept (a path of this origin). Without it forms are not kept. */
  readonly page?: string;
  /** A form's answer usually redirects: one that ends below this path counts as delivery (a path of this origin). */
  readonly doneAt?: string;
  /** How long an entry is tried, in milliseconds. @defaultValue 86 400 000, a day */
  readonly maxAgeMs: number;
  /** Most entries that may wait. @defaultValue 100 */
  readonly maxEntries: number;
  /** Most bytes of the bodies of all that wait together. @defaultValue 5 242 880, 5 MiB */
  readonly maxBytes: number;
}

export const OUTBOX_DEFAULTS: OutboxPolicy = /* @__PURE__ */ Object.freeze({
  name: 'outbox',
  answer: 'accepted',
  orderBy: 'outbox',
  addKey: false,
  maxAgeMs: 86_400_000,
  maxEntries: 100,
  maxBytes: 5 * 1_048_576,
});

/** The methods that a route keeps unless it names others. */
export const OUTBOX_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const resolveOutbox = (options: Partial<OutboxPolicy> | true): OutboxPolicy =>
  options === true ? OUTBOX_DEFAULTS : { ...OUTBOX_DEFAULTS, ...options };

/** What goes one after the other. Each owner has an order of their own: one's entries do not wait for another's. */
export function orderOf({ name, orderBy }: OutboxPolicy, url: string, id: string, owner: string | undefined): string {
  const order = { outbox: name, url: `${name} ${url}`, none: id }[orderBy];
  return owner === undefined ? order : `${order} ${owner}`;
}

/** Why an outbox has no room for a request; `undefined` if it has. */
export function fullBy(
  { name, maxEntries, maxBytes }: OutboxPolicy,
  bytes: number,
  pending: readonly { readonly outbox: string; readonly bytes: number }[],
): string | undefined {
  const own = pending.filter(({ outbox }) => outbox === name);
  if (own.length >= maxEntries) return `outbox '${name}' has ${own.length} entries, as many as maxEntries allows`;
  const kept = own.reduce((sum, entry) => sum + entry.bytes, 0);
  if (kept + bytes <= maxBytes) return undefined;
  return `outbox '${name}' has ${kept} bytes, and ${bytes} more are more than maxBytes (${maxBytes}) allows`;
}
