/** What a run of the command is given by its surroundings. */
export interface Surroundings {
  readonly cwd: string;
  /** Where the scripts are that are copied: the package's `dist`. */
  readonly builds: string;
  print(line: string): void;
  complain(line: string): void;
}

/** What is wrong with a command, in words for whoever gave it. */
export class CommandError extends Error {}
