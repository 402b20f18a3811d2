import { type Admission, admit } from '../policy/admit.js';
import { type CircuitState, circuitState, mayProbe } from '../policy/circuit.js';
import type { RetryPolicy } from '../policy/index.js';
import type { Engine } from './call.js';
import type { RunClock } from './clock.js';
import type { Target } from './target.js';

/** Which server the next attempt of a request goes to, and what keeps the request away from it. */
export interface Aim {
  /** The server that the next attempt goes to. */
  readonly target: Target;
  /** What that server has asked for. */
  admission(): Admission;
  /** The state of its circuit, as far as it keeps this request away. */
  circuitState(): CircuitState;
  /** May a server that is one of several find out whether it is back? Others stand in for it, so nobody else would. */
  mayTry(): boolean;
  /** Moves on if the server that is aimed at would not be asked at once. */
  avoidBusy(): void;
  /** Moves on to the next server in turn; one that would not be asked at once is passed over, which costs no attempt. */
  moveOn(): void;
}

export function createAim(
  targets: readonly [Target, ...Target[]],
  path: string,
  {
    policy,
    clock,
    deadline,
  }: { readonly policy: RetryPolicy; readonly clock: RunClock; readonly deadline: () => number },
  { book, guards, ports }: Engine,
): Aim {
  const isOneOfSeveral = targets.length > 1;

  const admission = ({ key }: Target): Admission =>
    admit(book.look(key), path, { now: ports.now(), deadline: clock.toWall(deadline()), policy });

  const mayTry = ({ key }: Target): boolean =>
    isOneOfSeveral && mayProbe(book.look(key).circuit, ports.now(), guards.circuit);

  const stateOf = (other: Target): CircuitState =>
    mayTry(other) ? 'closed' : circuitState(book.look(other.key).circuit, ports.now());

  const isFree = (other: Target): boolean =>
    stateOf(other) === 'closed' && admission(other).do === 'go' && (other.notBefore ?? 0) <= clock.now();

  // No accessor: one that is made for each request takes some 20 µs.
  const aim: { -readonly [Key in keyof Aim]: Aim[Key] } = {
    target: targets[0],
    admission: () => admission(aim.target),
    circuitState: () => stateOf(aim.target),
    mayTry: () => mayTry(aim.target),
    avoidBusy() {
      if (isOneOfSeveral && !isFree(aim.target)) aim.moveOn();
    },
    moveOn() {
      const at = targets.indexOf(aim.target);
      aim.target = [...targets.slice(at + 1), ...targets.slice(0, at)].find(isFree) ?? aim.target;
    },
  };
  return aim;
}
