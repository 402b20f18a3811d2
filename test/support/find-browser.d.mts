/** A Chromium that can be launched. */
export interface FoundBrowser {
  readonly executablePath: string;
  /** What it needs in its environment besides the caller's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly from: 'CHROME_PATH' | Source;
}

/** Where a browser can come from, in the order of looking. */
export type Source = 'playwright' | 'system' | 'npm' | 'apt';

/** Each is the real machine's unless given. */
export interface FindBrowserOptions {
  readonly skip?: readonly Source[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: string;
  readonly arch?: string;
  readonly isRoot?: boolean;
  readonly exists?: (path: string) => boolean;
  readonly playwrightPath?: () => string | Promise<string>;
  readonly installFromNpm?: () =>
    | Pick<FoundBrowser, 'executablePath' | 'env'>
    | Promise<Pick<FoundBrowser, 'executablePath' | 'env'>>;
  readonly installByApt?: () => void | Promise<void>;
  readonly log?: (line: string) => void;
}

/** Finds a Chromium, or installs one where that is possible; otherwise throws an error that says what to do. */
export function findBrowser(options?: FindBrowserOptions): Promise<FoundBrowser>;
