/** Virtual time: what is to happen, in order. Nothing here waits. */
export interface Clock {
  now(): number;
  /** Runs `task` at `at`, or now if that is over; what is due at the same time runs in the order it was asked for. */
  at(at: number, task: () => void): void;
  /** Runs everything that is due, and what that asks for, until nothing is left. */
  run(): void;
}

interface Due {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

export function createClock(startAt = 0): Clock {
  const heap: Due[] = [];
  let now = startAt;
  let order = 0;
  return {
    now: () => now,
    at(at, task) {
      push(heap, { at: Math.max(at, now), order: order++, task });
    },
    run() {
      for (let due = pop(heap); due !== undefined; due = pop(heap)) {
        now = due.at;
        due.task();
      }
    },
  };
}

const before = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** A binary heap: the children of `i` are at `2i + 1` and `2i + 2`, and none is before its parent. */
function push(heap: Due[], due: Due): void {
  let hole = heap.length;
  heap.push(due);
  while (hole > 0) {
    const parentAt = (hole - 1) >> 1;
    const parent = heap[parentAt];
    if (parent === undefined || before(parent, due)) break;
    heap[hole] = parent;
    hole = parentAt;
  }
  heap[hole] = due;
}

function pop(heap: Due[]): Due | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return top;
  let hole = 0;
  for (;;) {
    const childAt = earlierChild(heap, hole);
    const child = heap[childAt];
    if (child === undefined || before(last, child)) break;
    heap[hole] = child;
    hole = childAt;
  }
  heap[hole] = last;
  return top;
}

function earlierChild(heap: readonly Due[], parentAt: number): number {
  const leftAt = 2 * parentAt + 1;
  const [left, right] = [heap[leftAt], heap[leftAt + 1]];
  return left !== undefined && right !== undefined && before(right, left) ? leftAt + 1 : leftAt;
}
