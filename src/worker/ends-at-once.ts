/**
 * Does a browser that replaces a worker at once (`skipWaiting`) end it at the moment of its last answer, and at times that
 * answer with it? WebKit does. It can be told by what only Chromium has and what Firefox lacks.
 */
export const endsAtOnce = (): boolean => 'body' in Request.prototype && !('isReloadNavigation' in Request.prototype);
