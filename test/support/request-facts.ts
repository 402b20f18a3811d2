import type { RequestFacts } from '../../src/policy/eligibility.ts';

/** A page's own `fetch('/api/items')`, changed by `over`. */
export const requestFacts = (over: Partial<RequestFacts> = {}): RequestFacts => ({
  method: 'GET',
  url: 'https://app.test/api/items',
  protocol: 'https:',
  origin: 'https://app.test',
  path: '/api/items',
  sameOrigin: true,
  navigation: false,
  mode: 'cors',
  destination: '',
  cache: 'default',
  keyed: false,
  eventStream: false,
  range: false,
  hasBody: false,
  choosy: false,
  sameReferrer: true,
  polling: false,
  keepalive: false,
  reloaded: false,
  ...over,
});
