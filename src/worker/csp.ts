import type { OriginStore, Ports, Warner } from '../engine/index.js';
import { allowsConnection, connectSources, type SourceList } from '../policy/csp.js';

/**
 * A worker fetches under the Content-Security-Policy of its own script, not of the page. What that forbids is left to
 * the browser: from the first request on where the policy could be read, else from the moment a violation tells.
 */
export interface CspGuard {
  /** The layer's store, which brings what was found out before with everything else it loads. */
  readonly store: OriginStore;
  /** Resolves to {@link Response.error} where the policy is what forbids it: that is no fault of a server. */
  readonly fetch: Ports['fetch'];
  /** Is the request to be left to the browser? Warns once for each origin. */
  skips(request: Request, url: URL): boolean;
  /**
   * What a page gets. Where the policy forbade the fetch that is a redirect to the same URL: not even the request that
   * was intercepted before that was known is lost. Throws the network's error if the request follows none.
   */
  settle(response: Response, request?: Request): Response;
  listen(): void;
}

/** What is known of one version of the script. */
interface Known {
  readonly lists: readonly SourceList[];
  /** Origins; and where an origin may be asked but redirects to one that may not, its URLs without query. */
  readonly blocked: readonly string[];
}

/**
 * What is stored for a scope: of its active version and, as long as that waits, of the next. A worker that is started
 * again cannot tell which of them it is, and in Chromium it may even get a `fetch` before `activate`: forbidden is then
 * what both forbid, and violations tell the rest.
 */
interface Stored {
  readonly scope: string;
  readonly versions: readonly Known[];
}

const NOTHING: Known = { lists: [], blocked: [] };
/** How long the installation waits for the script's headers. */
const READ_MS = 2_000;
/** No load takes longer, or the store is none. */
const LOAD_MS = 2_000;
/** Chromium tells of a violation some task after the fetch has failed: within 2 ms (measured), and never before. */
const VIOLATION_MS = 5;
/** The same of all browsers that tell of violations: Firefox has taken 60 ms on a busy machine. */
const TOLD_MS = 250;
const MAX_BLOCKED = 100;

export function createCspGuard(
  scope: ServiceWorkerGlobalScope,
  store: OriginStore,
  ports: Ports,
  warn: Warner,
): CspGuard {
  let versions: readonly Known[] = [];
  /** What this run of the worker has found out. */
  let found = NOTHING;
  /** What was refused, and the error that the network gave for it. */
  const refused = new WeakMap<Response, unknown>();
  const startedAt = ports.monotonic();
  let loading: Promise<void> | undefined;
  let isLoaded = false;
  let isStored = false;
  /** This run has installed the script, so it is the newest version. */
  let isNew = false;
  let isActive = false;
  let isTold = false;
  let probed: Promise<boolean> | undefined;

  const knowsNothing = (): boolean => versions.length === 0 && found === NOTHING;

  const allows = (lists: readonly SourceList[], url: URL): boolean => allowsConnection(lists, url, scope.location);

  /** The entry that forbids a URL. */
  function entryFor({ lists, blocked }: Known, url: URL): string | undefined {
    const entry = url.origin + url.pathname;
    if (blocked.includes(entry)) return entry;
    return blocked.includes(url.origin) || !allows(lists, url) ? url.origin : undefined;
  }

  function forbids(url: URL): boolean {
    const all = versions.map((version) => entryFor(version, url));
    const entry = entryFor(found, url) ?? (all.includes(undefined) ? undefined : all[0]);
    if (entry === undefined) return false;
    const what = entry === url.origin ? entry : `where ${url.origin} redirects to`;
    warn(
      `blocked-by-csp: the worker may not fetch ${what}, so that is left to the browser, without retries; add it to connect-src in the Content-Security-Policy of ${scope.location.pathname}, and change the script, too: only a new script brings a new policy`,
    );
    return true;
  }

  /** Nothing in here may keep a request from being sent, or replace the network's own error. */
  async function isRefused(request: Request, waitMs = 0): Promise<boolean> {
    try {
      if (waitMs > 0) {
        await ports.sleep(waitMs).done;
        await guess(new URL(request.url));
      }
      return !knowsNothing() && forbids(new URL(request.url));
    } catch {
      return false;
    }
  }

  /** What fails of another origin counts as forbidden where that is neither read nor told. Of our own the script was read. */
  async function guess(url: URL): Promise<void> {
    const isOwn = url.origin === scope.location.origin;
    if (!isOwn && entryFor(found, url) === undefined && (await isUntold())) block(url.origin);
  }

  /** Is there a policy that could not be read, and does the browser not tell what it forbids? WebKit does not. */
  async function isUntold(): Promise<boolean> {
    if ((mayLoad() && !isNew) || readable().length > 0) return false;
    probed ??= probe();
    return probed;
  }

  async function probe(): Promise<boolean> {
    try {
      // No network is asked for it, and nearly every policy forbids it.
      await ports.fetch(new Request('data:,'));
      return false;
    } catch {
      await ports.sleep(TOLD_MS).done;
      return !isTold;
    }
  }

  const mayLoad = (): boolean => !isLoaded && ports.monotonic() - startedAt < LOAD_MS;

  const readable = (): readonly Known[] => versions.filter(({ lists }) => lists.length > 0);

  function refuse(error: unknown): Response {
    const response = Response.error();
    refused.set(response, error);
    return response;
  }

  function adopt(values: readonly unknown[]): void {
    const stored = values.find((value) => isStoredOf(scope.registration.scope, value));
    if (stored === undefined) return;
    isStored = true;
    if (!isNew) versions = isActive ? stored.versions.slice(-1) : stored.versions;
  }

  /** Behind everybody's back: what cannot be kept is found out again. */
  function save(change: (versions: readonly Known[]) => readonly Known[]): void {
    const saved = async () => {
      await loading;
      if (!isStored && ![...versions, found].some(saysSomething)) return;
      const id = scope.registration.scope;
      const next = (value: unknown): Stored | undefined => {
        const changed = change(isStoredOf(id, value) ? value.versions : []);
        return changed.some(saysSomething) ? { scope: id, versions: changed } : undefined;
      };
      isStored = (await store.update(new Map([[`csp ${id}`, next]]))).get(`csp ${id}`) !== undefined;
    };
    saved().catch(() => {});
  }

  async function read(): Promise<void> {
    // The server only confirms what the browser has just stored, if it can tell versions apart. `force-cache` would not
    // ask at all, but may bring the headers of an older script.
    const init = { cache: 'no-cache', signal: AbortSignal.timeout(READ_MS) } as const;
    const answer = await ports.fetch(new Request(scope.location.href, init));
    const lists = answer.ok ? connectSources(answer.headers.get('Content-Security-Policy') ?? '') : [];
    if (lists.length > 0) versions = [{ lists, blocked: [] }];
    await answer.body?.cancel();
  }

  async function onInstall(): Promise<void> {
    isNew = true;
    versions = [];
    // Else violations tell.
    const failed = await read().catch((error: unknown) => error);
    const own = versions[0] ?? NOTHING;
    save(([active = NOTHING]) => (scope.registration.active ? [active, own] : [own]));
    // The browser itself has just got the script.
    if (failed instanceof TypeError && (await isUntold())) block(scope.location.origin);
  }

  function onActivate(): void {
    isActive = true;
    versions = versions.slice(-1);
    save((stored) => stored.slice(-1));
  }

  function onViolation({ blockedURI, disposition, effectiveDirective }: SecurityPolicyViolationEvent): void {
    isTold = true;
    if (disposition !== 'enforce' || effectiveDirective !== 'connect-src' || !URL.canParse(blockedURI)) return;
    const url = new URL(blockedURI);
    const { origin, pathname } = url;
    // What may be asked has redirected to what may not, and only the former is told. Where no policy could be read, all of
    // our own origin is forbidden only if not even the script is to be had.
    const known = readable();
    const redirected =
      known.length > 0
        ? known.some(({ lists }) => allows(lists, url))
        : origin === scope.location.origin && pathname !== scope.location.pathname;
    block(redirected ? origin + pathname : origin);
  }

  function block(entry: string): void {
    if (found.blocked.includes(entry)) return;
    found = adding(entry, found);
    save((stored) =>
      // Not held against a version that may not be this one.
      stored.length > 1 && !isNew ? stored : [...stored.slice(0, -1), adding(entry, stored.at(-1))],
    );
  }

  function toItself(url: string): Response {
    const headers = {
      Location: url,
      // WebKit asks it of whatever looks as if it came from another origin.
      'Access-Control-Allow-Origin': scope.location.origin,
      'Access-Control-Allow-Credentials': 'true',
    };
    return new Response(null, { status: 307, headers });
  }

  return {
    store: {
      ...store,
      load() {
        const values = store.load();
        loading = values
          .then(adopt)
          .catch(() => {})
          .then(() => {
            isLoaded = true;
          });
        return values;
      },
    },
    async fetch(request, init) {
      if (!knowsNothing() && (await isRefused(request))) return refuse(new TypeError('Failed to fetch'));
      try {
        return await ports.fetch(request, init);
      } catch (error) {
        if (await isRefused(request, VIOLATION_MS)) return refuse(error);
        throw error;
      }
    },
    skips(request, url) {
      if (!knowsNothing() && forbids(url)) return true;
      // As long as it is not known what is forbidden, only what can be asked anew is intercepted.
      return mayLoad() && url.origin !== scope.location.origin && request.redirect !== 'follow';
    },
    settle(response, request) {
      if (!refused.has(response)) return response;
      // The browser dispatches the same request again, this time to be left alone.
      if (request?.redirect === 'follow' || request?.mode === 'navigate') return toItself(request.url);
      throw refused.get(response);
    },
    listen() {
      scope.addEventListener('install', (event) => event.waitUntil(onInstall()));
      scope.addEventListener('activate', onActivate);
      scope.addEventListener('securitypolicyviolation', (event) => onViolation(event as SecurityPolicyViolationEvent));
    },
  };
}

const adding = (entry: string, { lists, blocked }: Known = NOTHING): Known => ({
  lists,
  blocked: [...blocked.filter((other) => other !== entry), entry].slice(-MAX_BLOCKED),
});

const saysSomething = ({ lists, blocked }: Known): boolean => lists.length > 0 || blocked.length > 0;

function isStoredOf(scope: string, value: unknown): value is Stored {
  const { scope: of, versions } = Object(value) as Partial<Stored>;
  return of === scope && isListOf(isKnown, versions);
}

const isKnown = (value: unknown): boolean => {
  const { lists, blocked } = Object(value) as Partial<Known>;
  return isListOf((list) => isListOf(isText, list), lists) && isListOf(isText, blocked);
};

const isText = (value: unknown): boolean => typeof value === 'string';

const isListOf = (check: (value: unknown) => boolean, value: unknown): boolean =>
  Array.isArray(value) && value.every(check);
