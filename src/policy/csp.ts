/** What a policy looks at in a URL, as `URL` and `Location` have it. */
export interface UrlParts {
  readonly protocol: string;
  readonly hostname: string;
  /** Empty where it is the scheme's own. */
  readonly port: string;
  readonly pathname: string;
}

/** The sources that one policy allows connections to. */
export type SourceList = readonly string[];

/**
 * What a `Content-Security-Policy` says about connections (CSP3 §2.2.1, §6.8.3): `connect-src`, else `default-src`, of
 * each of its policies. One that has neither allows everything and is left out.
 */
export function connectSources(header: string): readonly SourceList[] {
  return header.split(',').flatMap((policy) => {
    const directives = new Map<string, SourceList>();
    for (const directive of policy.split(';')) {
      const [name = '', ...sources] = directive.trim().split(/\s+/);
      // Of directives of the same name the first counts.
      if (!directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), sources);
    }
    const list = directives.get('connect-src') ?? directives.get('default-src');
    return list === undefined ? [] : [list];
  });
}

/**
 * May a script of `self` connect to an HTTP URL under all of these lists (CSP3 §6.7.2)? Where browsers differ, or the
 * specification asks for less than they do, yes: what they block after all they tell us.
 */
export const allowsConnection = (lists: readonly SourceList[], url: UrlParts, self: UrlParts): boolean =>
  lists.every((list) => list.some((source) => matches(source, url, self)));

const HOST_SOURCE =
  /^(?:([a-z][a-z\d+.-]*):\/\/)?((?:\*\.)?[^/:*]+|\[[^\]]+\]|\*)(?::(\d+|\*))?(\/[^?#]*)?(?:[?#].*)?$/i;

function matches(source: string, url: UrlParts, self: UrlParts): boolean {
  // Any port: an asterisk alone is no host.
  if (source === '*') return true;
  if (source.toLowerCase() === "'self'") {
    return url.hostname === self.hostname && url.port === self.port && schemeFits(self.protocol, url.protocol);
  }
  if (/^[a-z][a-z\d+.-]*:$/i.test(source)) return schemeFits(source, url.protocol);
  // Everything else in quotes speaks of scripts, and fits no host.
  const [, scheme, host = '', port, path] = HOST_SOURCE.exec(source) ?? [];
  return (
    schemeFits(scheme === undefined ? self.protocol : `${scheme}:`, url.protocol) &&
    hostFits(host.toLowerCase(), url.hostname) &&
    portFits(port, url) &&
    pathFits(path, url.pathname)
  );
}

/** What a scheme stands for besides itself: its safer form, and HTTP for its sockets. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  'http:': ['https:'],
  'ws:': ['http:', 'https:'],
  'wss:': ['https:'],
};

function schemeFits(scheme: string, protocol: string): boolean {
  const known = scheme.toLowerCase();
  return known === protocol || ALSO[known]?.includes(protocol) === true;
}

const hostFits = (host: string, hostname: string): boolean =>
  host.startsWith('*') ? hostname.endsWith(host.slice(1)) : host === hostname;

function portFits(port: string | undefined, url: UrlParts): boolean {
  if (port === undefined) return url.port === '';
  const actual = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  // Written for HTTP, and it is HTTPS now.
  return port === '*' || Number(port) === actual || (Number(port) === 80 && actual === 443);
}

/** A path that ends in a slash is the beginning of others. */
function pathFits(path: string | undefined, pathname: string): boolean {
  if (path === undefined) return true;
  const [wanted, actual] = [decoded(path), decoded(pathname)];
  return wanted.endsWith('/') ? actual.startsWith(wanted) : actual === wanted;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
