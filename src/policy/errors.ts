/** Why an option was refused or an answer could not be had; stable across versions, for programs to switch on. */
export type RetryLayerErrorCode = 'bad-option' | 'unknown-option' | 'already-listening';

/**
 * The one error this library throws by itself. Requests never see it: it is thrown where a layer is made.
 *
 * `message` names the option, the value that was given and the remedy; `option` is the option's path, such as
 * `routes[1].retry.attempts`.
 */
export class RetryLayerError extends Error {
  override readonly name = 'RetryLayerError';

  constructor(
    readonly code: RetryLayerErrorCode,
    message: string,
    readonly option?: string,
  ) {
    super(message);
  }
}
