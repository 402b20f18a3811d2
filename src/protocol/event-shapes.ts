import type { LayerEvent } from './events.js';
import { has, isObject, type Shape } from './shape.js';

const ABOUT: Shape = {
  id: 'string',
  at: 'number',
  method: 'string',
  url: 'string',
  group: 'string',
  elapsedMs: 'number',
};

const ENTRY: Shape = { at: 'number', id: 'string', outbox: 'string', method: 'string', url: 'string' };

/** What each event must have to be handed to a listener. */
const SHAPES: Readonly<Record<LayerEvent['type'], Shape>> = {
  'retry-scheduled': { ...ABOUT, attempt: 'number', delayMs: 'number', cause: 'string', by: 'string' },
  waiting: { ...ABOUT, cause: 'string' },
  released: { ...ABOUT, cause: 'string' },
  'hedge-launched': { ...ABOUT, attempt: 'number' },
  recovered: { ...ABOUT, attempts: 'number', status: 'number' },
  resumed: { ...ABOUT, resumptions: 'number', fromByte: 'number' },
  'gave-up': { ...ABOUT, attempts: 'number', reason: 'string' },
  'hold-started': { at: 'number', origin: 'string', group: 'string', until: 'number' },
  'hold-ended': { at: 'number', origin: 'string', group: 'string' },
  'circuit-changed': { at: 'number', origin: 'string', group: 'string', from: 'string', to: 'string' },
  'budget-exhausted': { at: 'number', origin: 'string', group: 'string' },
  queued: ENTRY,
  'queue-sent': { ...ENTRY, status: 'number', sends: 'number' },
  'queue-failed': { ...ENTRY, reason: 'string', sends: 'number' },
};

/** The types of events there are. */
export const EVENT_TYPES = Object.keys(SHAPES) as readonly LayerEvent['type'][];

export const isEvent = (value: unknown): value is LayerEvent =>
  isObject(value) &&
  typeof value.type === 'string' &&
  Object.hasOwn(SHAPES, value.type) &&
  has(value, SHAPES[value.type as LayerEvent['type']]);
