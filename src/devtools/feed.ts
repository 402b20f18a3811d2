import { EVENT_TYPES, type LayerEvent } from '../protocol/index.js';
import type { DevtoolsLine } from './show.js';

/** Hears every event there is, and hands on what came within one frame at once. Returns a function that ends it. */
export function createFeed(line: DevtoolsLine, onEvents: (events: readonly LayerEvent[]) => void): () => void {
  let heard: LayerEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const handOn = (): void => {
    timer = undefined;
    const events = heard;
    heard = [];
    onEvents(events);
  };
  const hear = (event: LayerEvent): void => {
    heard.push(event);
    timer ??= setTimeout(handOn, FRAME_MS);
  };
  const ends = EVENT_TYPES.map((type) => line.on(type, hear));
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
    if (heard.length > 0) handOn();
  };
}

const FRAME_MS = 16;
