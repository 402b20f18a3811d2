/** Where a key leads to in a list of `count` rows, `page` of which are in view; `at` is -1 where none is chosen. */
export function rowByKey(key: string, at: number, count: number, page: number): number | undefined {
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at < 0 ? count - 1 : at - 1,
    Home: 0,
    End: count - 1,
    PageDown: at + page,
    PageUp: at - page,
  }[key];
  return to === undefined || count === 0 ? undefined : Math.max(0, Math.min(to, count - 1));
}

/** Where a key leads to in a row of `count` tabs. */
export function tabByKey(key: string, at: number, count: number): number | undefined {
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + count, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : to % count;
}
