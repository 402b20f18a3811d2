export interface Expected {
  readonly numbers?: Readonly<Record<string, number>>;
  readonly most?: Readonly<Record<string, number>>;
  readonly flags?: readonly string[];
  readonly names?: readonly string[];
}

/** Each number and flag by its name, and the names that were given. */
export function readArgs(args: readonly string[], expected?: Expected): Record<string, unknown>;
