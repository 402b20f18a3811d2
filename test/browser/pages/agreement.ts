import { checkLayerOptions } from '../../../src/worker/options.ts';
import { compileRoutes } from '../../../src/worker/routes.ts';
import { toStaticRoutes } from '../../../src/worker/static-routes.ts';

/** Which URLs does the pattern that the browser is given for a text match otherwise than the worker does? */
export function compare(pairs: readonly (readonly [match: string, href: string])[]) {
  const differing: string[] = [];
  let [matched, missed] = [0, 0];
  for (const [match, href] of pairs) {
    const routes = [{ match, retry: false as const }];
    try {
      checkLayerOptions({ routes });
    } catch {
      continue;
    }
    const [written] = toStaticRoutes(routes, location.origin);
    if (!written || !URL.canParse(href, location.origin)) continue;
    const request = new URL(href, location.origin);
    const url = new URL(request);
    url.hash = '';
    const find = compileRoutes({ routes, defaults: false });
    const ours = find({ method: 'GET' } as Request, url, url.origin === location.origin) !== undefined;
    const pattern = new URLPattern(written.pattern);
    if (ours !== pattern.test(request.href) || pattern.hasRegExpGroups) differing.push(`${match} at ${request.href}`);
    if (ours) matched += 1;
    else missed += 1;
  }
  return { differing, matched, missed };
}
