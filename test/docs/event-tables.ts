import { GIVE_UP_REASONS, OUTBOX_REASONS } from '../../src/devtools/words.ts';
import { EVENT_TYPES } from '../../src/protocol/event-shapes.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { toTable } from './markdown.ts';
import { basesOf, interfacesOf, literalsOf, type Member, membersOf, saysOf } from './source.ts';

const FILE = 'protocol/events.ts';

/** An event as its interface has it. */
export interface EventDoc {
  readonly type: string;
  readonly says: string;
  /** What it has besides `type`; `base` is what it has in common with others. */
  readonly own: readonly Member[];
  readonly base: readonly Member[];
  readonly baseName?: string;
}

/** All events, in the order in which the code has them. */
export function readEvents(): readonly EventDoc[] {
  const found = interfacesOf(FILE).flatMap((name) => {
    const [type] = membersOf(FILE, name).some((one) => one.name === 'type') ? literalsOf(FILE, `${name}.type`) : [];
    if (type === undefined) return [];
    const [baseName] = basesOf(FILE, name);
    return [
      {
        type,
        says: saysOf(FILE, name),
        own: membersOf(FILE, name).filter((one) => one.name !== 'type'),
        base: baseName === undefined ? [] : membersOf(FILE, baseName),
        ...(baseName === undefined ? {} : { baseName }),
      },
    ];
  });
  return EVENT_TYPES.map((type) => {
    const event = found.find((one) => one.type === type);
    if (event === undefined) throw new Error(`src/${FILE} has no interface for ${type}`);
    return event;
  });
}

/** Types that say what may stand there are written out; others are simple. */
const inWords = ({ name, type, optional }: Member): string =>
  `\`${name}${optional ? '?' : ''}\`${['string', 'number'].includes(type) ? ` ${type}` : ''}`;

function eventTable(of: (event: EventDoc) => boolean): string {
  const rows = readEvents()
    .filter(of)
    .map(({ type, says, own }) => [`\`${type}\``, says, own.map(inWords).join(', ')]);
  return toTable(['event', 'when', 'has'], rows);
}

const fieldTable = (name: string): string =>
  toTable(
    ['field', 'type', 'what it is'],
    membersOf(FILE, name).map((one) => [`\`${one.name}\``, one.type, one.says]),
  );

const said = <T extends string>(texts: readonly string[], words: Readonly<Record<T, string>>): string =>
  toTable(
    ['`reason`', 'because'],
    texts.map((text) => {
      const why = words[text as T];
      if (why === undefined) throw new Error(`nothing is said of ${text}`);
      return [`\`${text}\``, why];
    }),
  );

/** The reasons that an event may have, as its type has them. */
export const giveUpReasons = (): readonly string[] => literalsOf('policy/decide.ts', 'GiveUpReason');
export const outboxReasons = (): readonly string[] => [
  ...literalsOf('policy/outbox-entry.ts', 'OutboxFailure'),
  ...literalsOf(FILE, 'QueueFailed.reason'),
];

/** Further fields with few values, and where these are declared. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '`cause` of `retry-scheduled`': literalsOf('policy/outcome.ts', 'Cause'),
  '`cause` of `waiting` and `released`': literalsOf(FILE, 'WaitCause'),
  '`by` of `retry-scheduled`': literalsOf('policy/decide.ts', 'WaitBy'),
  '`from` and `to` of `circuit-changed`': literalsOf('policy/circuit.ts', 'CircuitState'),
};

/** The tables of docs/events.md, made from the events' types and what the panel says of their reasons. */
export const eventBlocks: Readonly<Record<string, () => string>> = {
  'request-events': () => eventTable(({ baseName }) => baseName === 'AboutRequest'),
  'request-fields': () => fieldTable('AboutRequest'),
  'origin-events': () => eventTable(({ baseName }) => baseName === undefined),
  'outbox-events': () => eventTable(({ baseName }) => baseName === 'AboutEntry'),
  'outbox-fields': () => fieldTable('AboutEntry'),
  'give-up-reasons': () => said(giveUpReasons(), GIVE_UP_REASONS),
  'outbox-reasons': () => said(outboxReasons(), OUTBOX_REASONS),
  'other-words': () =>
    toTable(
      ['field', 'values'],
      Object.entries(WORDS).map(([field, values]) => [field, values.map((value) => `\`${value}\``).join(', ')]),
    ),
};

/** An event with everything that it has to have, for the tests. */
export const sample = ({ type, own, base }: EventDoc): LayerEvent & Record<string, unknown> => {
  const required = [...base, ...own].filter(({ optional }) => !optional);
  const fields = required.map(({ name, type: of }) => [name, of === 'number' ? 1 : 'x']);
  return { ...Object.fromEntries(fields), type } as unknown as LayerEvent & Record<string, unknown>;
};
