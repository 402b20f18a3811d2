import { byId, make } from '../dom.ts';

/** Newest first. */
export function showDelivered(orders: readonly string[]): void {
  byId('delivered', HTMLElement).replaceChildren(
    ...orders.toReversed().map((order) => make('li', '', make('span', 'what', order))),
  );
  byId('delivered-empty', HTMLElement).hidden = orders.length > 0;
}
