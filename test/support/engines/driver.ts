/** What is asked of an engine that Playwright cannot drive; `page.ts` makes pages as the tests know them of it. */
export interface Driver {
  readonly engine: 'firefox' | 'webkit';
  readonly version: string;
  /** With cookies, storage and workers of its own, as far as the engine has such. */
  openProfile(): Promise<Profile>;
  /** Only where the engine can. */
  stopWorkers?(): Promise<void>;
  close(): Promise<void>;
}

export interface Profile {
  openTab(): Promise<Tab>;
  setCookie(cookie: { readonly name: string; readonly value: string; readonly url: string }): Promise<void>;
  close(): Promise<void>;
}

export interface Tab {
  /** Rejects where there is nothing to be loaded. */
  goto(url: string, until: LoadState): Promise<void>;
  reload(): Promise<void>;
  /** Evaluates what becomes a string, maybe later. */
  evaluate(expression: string): Promise<string>;
  /** Of each later document, before its own scripts; only where the engine can. */
  addInitScript?(source: string): Promise<void>;
  close(): Promise<void>;
}

export type LoadState = 'commit' | 'domcontentloaded' | 'load';
