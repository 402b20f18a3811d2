import type { BudgetExhausted, LayerStatus, Retries } from '../src/page/index.ts';
import { BUDGET_DEFAULTS } from '../src/policy/index.ts';
import { byId, setText } from './dom.ts';

/** Shows what is left of the retry budget of an origin's `data` group. */
export interface BudgetPanel {
  /** Starts to look, and looks until nothing is under way and the budget is full again. */
  watch(origin: string): void;
  /** Says that the worker has found it empty, if it is the one shown. */
  showExhausted(event: BudgetExhausted): void;
}

/** What a `fetch` without a route of its own belongs to. */
const GROUP = 'data';
const BUSY_POLL_MS = 250;
const IDLE_POLL_MS = 1_000;

export function createBudgetPanel(retries: Retries, isBusy: () => boolean): BudgetPanel {
  const meter = byId('budget-meter', HTMLMeterElement);
  const tokens = byId('budget-tokens', HTMLElement);
  const whose = byId('budget-origin', HTMLElement);
  const note = byId('budget-note', HTMLElement);
  let origin = location.origin;
  let watching = false;
  let exhausted = false;

  function show(left: number, capacity: number): void {
    meter.max = capacity;
    meter.low = capacity / 4;
    meter.optimum = capacity;
    meter.value = left;
    setText(tokens, `${left.toFixed(1)} of ${capacity}`);
    // One token would do for the next retry, but then nobody would have read why the last ones were not made.
    if (left > meter.low && !isBusy()) exhausted = false;
    note.dataset.exhausted = String(exhausted);
    setText(note, exhausted ? EXHAUSTED : RULES);
  }

  async function look(): Promise<void> {
    const status = await retries.status();
    const { left, capacity } = budgetOf(status, origin);
    if (status === undefined) setText(note, 'No worker answers, so there are no retries and no budget.');
    else show(left, capacity);
    const busy = isBusy();
    if (status !== undefined && (busy || left < capacity)) setTimeout(look, busy ? BUSY_POLL_MS : IDLE_POLL_MS);
    else watching = false;
  }

  return {
    watch(ofOrigin) {
      origin = ofOrigin;
      setText(whose, new URL(origin).host);
      if (watching) return;
      watching = true;
      void look();
    },
    showExhausted(event) {
      if (event.origin === origin && event.group === GROUP) exhausted = true;
    },
  };
}

/** A budget that is full is not listed. */
function budgetOf(status: LayerStatus | undefined, origin: string): { left: number; capacity: number } {
  const found = status?.origins.find((one) => one.origin === origin && one.group === GROUP);
  const capacity = found?.capacity ?? BUDGET_DEFAULTS.capacity;
  return { left: found?.tokens ?? capacity, capacity };
}

const { retryCost, successCredit, refillPerSecond } = BUDGET_DEFAULTS;

const RULES = `A retry costs ${retryCost}, and gets it back if it succeeds. Each first-try success earns ${successCredit}, each second ${refillPerSecond}. All tabs share it.`;

const EXHAUSTED =
  'It ran empty: steadfetch stopped retrying, so as not to make an outage worse. Every request still goes out once, and the page gets its answer as it is.';
