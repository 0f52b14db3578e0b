import { accept, type Result, refuse } from '@pesewa/kernel';

/** Work on something that only one transaction at a time can change. */
interface Keyed {
  readonly key: string;
  /** How many bytes it holds in memory while it waits. */
  readonly bytes: number;
}

/** How much work may be in progress or waiting, and how long work on one key waits for the work before it. */
interface Bounds {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly waitMsMax: number;
}

interface KeyQueue {
  underWay: number;
  /** Called with `false` when their time has passed. */
  readonly waiting: Set<(mayGoOn: boolean) => void>;
}

const TOGETHER_MAX = 100;

/**
 * Lets work on one key wait while other work on it is in progress, and then run together. Otherwise hundreds of
 * repetitions would be spread over transactions that all want the same document and delay one another.
 *
 * Work beyond the limits is refused at once, and work that has waited too long is dropped, because its sender has given
 * up.
 */
export function serialiseByKey<Work extends Keyed, Outcome>(
  submit: (work: Work) => Promise<Outcome>,
  bounds: Bounds,
): (work: Work) => Promise<Result<Outcome, 'overloaded'>> {
  const queues = new Map<string, KeyQueue>();
  const held = { items: 0, bytes: 0 };
  const leave = (key: string, queue: KeyQueue) => {
    queue.underWay -= 1;
    if (queue.underWay > 0) return;
    const next = [...queue.waiting].slice(0, TOGETHER_MAX);
    queue.underWay = next.length;
    if (next.length === 0) queues.delete(key);
    for (const goOn of next) goOn(true);
  };
  const run = async (work: Work): Promise<Result<Outcome, 'overloaded'>> => {
    const queue = queues.get(work.key) ?? { underWay: 0, waiting: new Set() };
    if (queue.underWay === 0) {
      queue.underWay = 1;
      queues.set(work.key, queue);
    } else if (!(await waitIn(queue, bounds.waitMsMax))) {
      return refuse('overloaded');
    }
    try {
      return accept(await submit(work));
    } finally {
      leave(work.key, queue);
    }
  };
  return async (work) => {
    if (held.items >= bounds.itemsMax || held.bytes + work.bytes > bounds.bytesMax)
      return refuse('overloaded');
    held.items += 1;
    held.bytes += work.bytes;
    try {
      return await run(work);
    } finally {
      held.items -= 1;
      held.bytes -= work.bytes;
    }
  };
}

/** Waits for the turn; false if it did not come in time. */
function waitIn(queue: KeyQueue, waitMsMax: number): Promise<boolean> {
  return new Promise((resolve) => {
    const goOn = (mayGoOn: boolean) => {
      clearTimeout(late);
      queue.waiting.delete(goOn);
      resolve(mayGoOn);
    };
    const late = setTimeout(() => goOn(false), waitMsMax);
    queue.waiting.add(goOn);
  });
}
