import type { OutboxItem } from '../protocol/index.js';

/** To a page whose request is kept (RFC 9110 §15.3.3): the entry, as `outbox.list()` shows it. */
export function accepted(item: OutboxItem): Response {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(JSON.stringify(item), { status: 202, statusText: 'Accepted', headers });
}

/** To a form that is kept (RFC 9110 §15.4.4). */
export const seeOther = (page: string, origin: string): Response => Response.redirect(new URL(page, origin).href, 303);
