import { make } from './dom.ts';

/** The latest sentences, newest first. */
export interface EventLog {
  say(text: string): void;
}

const KEPT = 50;

export function createEventLog(list: HTMLElement): EventLog {
  return {
    say(text) {
      const time = make('time', '', new Date().toLocaleTimeString('en-GB'));
      list.prepend(make('li', '', time, ' ', text));
      while (list.children.length > KEPT) list.lastElementChild?.remove();
    },
  };
}
