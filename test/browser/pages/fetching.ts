import { constant, createRetryFetch, type RetryRequestInit } from '../../../src/fetch/index.ts';
import type { Seen } from './page.ts';

/** This page's own, with waits that a test can wait for. */
const retryFetch = createRetryFetch({ backoff: constant(20) }, { circuit: { failures: 1e9, window: 1_000 } });

/** Fetches with it and tells what came, as plain data. */
export async function get(url: string, init?: RetryRequestInit, asRequest = false): Promise<Seen> {
  try {
    const response = await (asRequest ? retryFetch(new Request(url, init)) : retryFetch(url, init));
    return {
      status: response.status,
      body: await response.text(),
      url: response.url,
      type: response.type,
      redirected: response.redirected,
      headers: Object.fromEntries(response.headers),
    };
  } catch (error) {
    return { error: `${error} after ${(error as { attempts?: number }).attempts} attempts` };
  }
}

/** Is called off after so many milliseconds. */
export async function abortAfter(ms: number, url: string): Promise<string> {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), ms);
  return retryFetch(url, { signal: controller.signal }).then(() => 'answered', String);
}

export const status = () => retryFetch.status();
