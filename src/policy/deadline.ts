/**
 * The deadline bounds what the layer adds: no attempt and no wait starts that cannot end before it. An attempt that is
 * in flight then is waited for as the browser alone would.
 */
export const deadlineAt = (startedAt: number, totalMs: number): number => startedAt + totalMs;

/** May something start at `at`? All are wall-clock instants, so that a suspended machine wakes up past its deadline. */
export const startsInTime = (at: number, deadline: number): boolean => at < deadline;
