import { duration, GIVE_UP_REASONS } from '../src/devtools/words.ts';
import { isSuccess, type Trace, type Wait } from './trace.ts';
import { pause, result } from './words.ts';

/** Something to draw on a track, in CSS pixels from its left end. */
export interface Piece {
  readonly kind: 'attempt' | 'wait' | 'tail' | 'queue' | 'reason';
  readonly tone: 'ok' | 'fail' | 'open' | 'backoff' | 'retry-after' | 'quiet';
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly title: string;
}

/** How much time a track is long, so that everything shown fits and the lanes can be compared. */
export function scaleFor(traces: readonly Trace[], now: number): number {
  const longest = Math.max(0, ...traces.map(({ sentAt, end }) => (end?.at ?? now) - sentAt));
  return SCALES_MS.find((ms) => ms >= longest) ?? longest;
}

const SCALES_MS = [1_000, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 16_000, 20_000, 30_000, 60_000];

/** An attempt takes milliseconds, its status has to be read: it is never narrower than this. */
const LEAST_ATTEMPT_PX = 30;
const LEAST_WAIT_PX = 10;
const LETTER_PX = 7;
/** Below this a request did not noticeably wait for a connection. */
const QUEUED_MS = 150;

/** Pure: the same trace at the same time is always the same picture. */
export function layOut(trace: Trace, now: number, scaleMs: number, widthPx: number): readonly Piece[] {
  const { sentAt, attempts, waits, end } = trace;
  const x = (at: number) => (Math.max(0, at - sentAt) / scaleMs) * widthPx;
  const last = end?.at ?? now;
  const waitsAfter = (index: number) => waits.filter(({ attempt }) => attempt === index + 1);

  const blocks = attempts.map(({ at }, index) => {
    const wait = waitsAfter(index)[0];
    const over = wait?.from ?? attempts[index + 1]?.at ?? last;
    return { from: x(at), to: x(over), gap: wait ? LEAST_WAIT_PX : 1 };
  });
  makeRoom(blocks, widthPx);

  const pieces: Piece[] = [];
  const first = attempts[0];
  if (first ? first.at - sentAt > QUEUED_MS : last - sentAt > QUEUED_MS) {
    const title = 'not at the server yet: the browser has no free connection, or the network is slow';
    pieces.push(piece('queue', 'quiet', 0, blocks[0]?.from ?? x(last), '', title));
  }
  for (const [index, block] of blocks.entries()) {
    // More than one: the device went offline during the first.
    const wait = waitsAfter(index).at(-1);
    pieces.push(attemptPiece(trace, index, block, wait));
    if (!wait) continue;
    const to = blocks[index + 1]?.from ?? Math.min(widthPx, Math.max(block.to, x(Math.min(last, wait.until ?? last))));
    pieces.push(piece('wait', toneOf(wait), block.to, to, waitLabels(wait), pause(wait)));
    if (wait.cause === 'timeout') {
      pieces.push(piece('tail', 'quiet', block.to, x(last), '', `attempt ${index + 1} is still open beside the next`));
    }
  }
  const reason = trace.gaveUp?.reason;
  if (reason !== undefined && reason !== 'attempts') {
    // Behind everything: it may have waited in vain after its last attempt.
    const from = Math.max(0, ...pieces.map(({ to }) => to)) + 6;
    pieces.push(
      piece('reason', 'quiet', from, widthPx, [GIVE_UP_REASONS[reason], reason], `gave up: ${GIVE_UP_REASONS[reason]}`),
    );
  }
  return pieces;
}

interface Block {
  from: number;
  to: number;
  /** Room to the next block. */
  readonly gap: number;
}

/** Widens narrow blocks and moves those that would lie on each other: first to the right, then back from the end. */
function makeRoom(blocks: Block[], widthPx: number): void {
  let free = 0;
  for (const block of blocks) {
    block.from = Math.max(block.from, free);
    block.to = Math.max(block.to, block.from + LEAST_ATTEMPT_PX);
    free = block.to + block.gap;
  }
  let limit = widthPx;
  for (const block of blocks.toReversed()) {
    block.to = Math.min(block.to, limit);
    block.from = Math.max(0, Math.min(block.from, block.to - LEAST_ATTEMPT_PX));
    limit = block.from - LEAST_WAIT_PX;
  }
}

function attemptPiece({ attempts, end }: Trace, index: number, block: Block, wait: Wait | undefined): Piece {
  const status = attempts[index]?.status ?? null;
  const isLast = index === attempts.length - 1;
  const decided = wait !== undefined || !isLast || end !== undefined;
  const tone = !decided ? 'open' : isLast && !wait && end && isSuccess(end) ? 'ok' : 'fail';
  // What the server is about to answer is not known here before it has.
  const known = wait?.cause === 'timeout' ? 'no answer' : status === null ? 'lost' : String(status);
  const label = tone === 'open' ? '…' : isLast && end?.kind === 'cut' ? 'cut' : known;
  const outcome = tone === 'open' ? 'under way' : isLast && end && !wait ? result(end) : known;
  return piece('attempt', tone, block.from, block.to, label, `attempt ${index + 1}: ${outcome}`);
}

/** From the longest to the shortest; the first that fits is shown. */
function waitLabels({ from, until, by }: Wait): readonly string[] {
  const word = WORDS[by];
  if (until === undefined) return [word];
  const time = duration(until - from);
  if (by === 'backoff') return [time];
  return [`${word}, ${time}`, by === 'retry-after' || by === 'rate-limit' ? time : word];
}

function piece(
  kind: Piece['kind'],
  tone: Piece['tone'],
  from: number,
  to: number,
  label: string | readonly string[],
  title: string,
): Piece {
  const fits = (text: string) => text.length * LETTER_PX + 6 <= to - from || kind === 'attempt';
  return { kind, tone, from, to: Math.max(from, to), label: [label].flat().find(fits) ?? '', title };
}

const WORDS: Readonly<Record<Wait['by'], string>> = {
  offline: 'offline',
  hold: 'held',
  circuit: 'parked',
  'retry-after': 'Retry-After',
  'rate-limit': 'RateLimit',
  backoff: '',
};

/** A time that the server named has the colour of its header, whoever was told of it. */
function toneOf({ by }: Wait): Piece['tone'] {
  if (by === 'backoff') return 'backoff';
  return by === 'offline' || by === 'circuit' ? 'quiet' : 'retry-after';
}
