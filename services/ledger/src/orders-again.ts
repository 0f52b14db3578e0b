import type { Clock } from '@pesewa/kernel';
import { type Loop, leasesOf, type Messaging, startLoop, takeLease } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { commandEventOf, isApproved } from './command-events.ts';
import { createOutcomes } from './command-outcomes.ts';
import { COMMANDS, fromOrderDocument, type OrderDocument } from './commands.ts';

const LEASE = { name: 'orders-again', durationMs: 5_000 } as const;
const BATCH = 100;

/**
 * Publishes an approved order again, a limit after its approval and then repeatedly until the ledger has applied or
 * refused it. So neither a lost order nor a lost answer leaves money where two operators have not put it: an
 * order is applied once, by its id, and answered each time.
 *
 * This is the only event that no other service waits for and could ask to be published again; orders are few.
 */
export function startOrdersAgain(deps: {
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit'>;
  readonly limitMs: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}): Loop {
  const { messaging, limitMs, clock } = deps;
  const orders = messaging.db.collection<OrderDocument>(COMMANDS);
  const outcomes = createOutcomes(messaging.db);
  const again = messaging.groupCommit<OrderDocument, void>('ledger.decision', async (found, transaction) => {
    const approved = found.map(fromOrderDocument).filter(isApproved);
    for (const order of approved) transaction.emit(commandEventOf(order));
    return found.map(() => undefined);
  });
  return startLoop({
    name: 'orders again',
    pauseMs: deps.pauseMs,
    clock,
    logger: deps.logger,
    round: async (_signal, processed) => {
      if (!(await takeLease(leasesOf(messaging.db), { ...LEASE, owner: messaging.owner }))) return false;
      const before = new Date(clock.nowMs() - limitMs);
      const due = await orders
        .find({ again: true, decidedAt: { $lte: before } })
        .sort({ decidedAt: 1 })
        .limit(BATCH)
        .toArray();
      const applied = await outcomes(due.map(fromOrderDocument));
      await Promise.all(due.map(again.submit));
      processed(due.length);
      const done = due.filter(({ _id }) => applied.has(_id)).map(({ _id }) => _id);
      await orders.updateMany({ _id: { $in: done } }, { $unset: { again: true } });
      return false;
    },
  });
}
