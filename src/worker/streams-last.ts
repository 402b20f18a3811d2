/**
 * Does a body that a worker makes bit by bit come to its end? Firefox stops the worker meanwhile (30 s after its last event,
 * a minute at most), and the page takes what it has by then for the whole. It can be told by what it lacks, and, in case it
 * gets that one day, by its name.
 */
export const streamsLast = (): boolean =>
  'body' in Request.prototype && !globalThis.navigator?.userAgent?.includes('Firefox/');
