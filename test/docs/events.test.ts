import { describe, expect, test } from 'vitest';
import { GIVE_UP_REASONS, OUTBOX_REASONS } from '../../src/devtools/words.ts';
import { EVENT_TYPES, isEvent } from '../../src/protocol/event-shapes.ts';
import { giveUpReasons, outboxReasons, readEvents, sample } from './event-tables.ts';
import { readPage } from './pages.ts';

const page = readPage('docs/events.md');

test('every type of event has a row', () => {
  for (const type of EVENT_TYPES) expect(page).toContain(`\n| \`${type}\` | `);
});

describe.each(readEvents())('$type', (event) => {
  test('is told to a page with what the page says, and with nothing less', () => {
    const whole = sample(event);
    expect(isEvent(whole)).toBe(true);
    for (const name of Object.keys(whole)) {
      const { [name]: _, ...without } = whole;
      expect(isEvent(without), `without ${name}`).toBe(false);
    }
  });

  test('says what it is, and of each field that it has in common with others', () => {
    expect(event.says).not.toBe('');
    for (const { name } of event.own) expect(page).toContain(`\`${name}`);
  });
});

test('reasons are all there', () => {
  expect([...giveUpReasons()].sort()).toEqual(Object.keys(GIVE_UP_REASONS).sort());
  expect([...outboxReasons()].sort()).toEqual(Object.keys(OUTBOX_REASONS).sort());
  for (const reason of [...giveUpReasons(), ...outboxReasons()]) expect(page).toContain(`\n| \`${reason}\` | `);
});
