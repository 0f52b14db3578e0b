/** Work on something that one transaction at a time can change. */
interface Keyed {
  readonly key: string;
}

interface Turn {
  underWay: number;
  readonly waiting: (() => void)[];
}

const TOGETHER_MAX = 100;
const WAITING_MAX = 5_000;

/**
 * Lets work on one key wait while other work on it is under way, then go on together: repeats that come by the hundred would
 * else be spread over transactions that all want the same document, and only delay each other.
 */
export function takeTurns<Work extends Keyed, Outcome>(
  submit: (work: Work) => Promise<Outcome>,
): (work: Work) => Promise<Outcome> {
  const turns = new Map<string, Turn>();
  const leave = (key: string, turn: Turn) => {
    turn.underWay -= 1;
    if (turn.underWay > 0) return;
    const next = turn.waiting.splice(0, TOGETHER_MAX);
    turn.underWay = next.length;
    if (next.length === 0) turns.delete(key);
    for (const goOn of next) goOn();
  };
  return async (work) => {
    const turn = turns.get(work.key) ?? { underWay: 0, waiting: [] };
    if (turn.underWay === 0) {
      turn.underWay = 1;
      turns.set(work.key, turn);
    } else {
      if (turn.waiting.length >= WAITING_MAX) throw new Error('too many of one callback are waiting');
      await new Promise<void>((resolve) => {
        turn.waiting.push(resolve);
      });
    }
    try {
      return await submit(work);
    } finally {
      leave(work.key, turn);
    }
  };
}
