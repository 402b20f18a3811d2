/** A clock that is set back stands still until it has caught up, so that no wait and no deadline becomes longer. */
export function neverBackwards(wallClock: () => number): () => number {
  let latest = wallClock();
  let behindMs = 0;
  return () => {
    const at = wallClock() + behindMs;
    if (at < latest) behindMs += latest - at;
    latest = Math.max(latest, at);
    return latest;
  };
}
