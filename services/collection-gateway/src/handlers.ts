import type { TopicEvent } from '@pesewa/contracts';
import { handleTopic, type Received, type TopicHandler } from '@pesewa/messaging';
import type { CollectionOrderCommand, Collections } from './collections.ts';

const NOTICES = ['pesewa.rails.RailStatusObserved', 'pesewa.rails.CollectionAmountDecided'] as const;

type Notice = Received<Extract<TopicEvent<'railNotices'>, { readonly type: (typeof NOTICES)[number] }>>;

/** What the gateway makes of the topics it consumes: facts end collections, or let them go out again. */
export function createHandlers(deps: {
  readonly collections: Pick<Collections, 'apply'>;
  readonly resubmitGraceMs: number;
  /** Called when collections may have become due for initiation. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const facts = handleTopic('railNotices', NOTICES, async (notices, transaction) => {
    const commands = notices.flatMap((notice): readonly CollectionOrderCommand[] => {
      const { reference } = notice.payload;
      if (notice.type === 'pesewa.rails.CollectionAmountDecided' && notice.payload.amount <= 0n) {
        transaction.park(notice.eventId, 'an amount received must be above zero');
        return [];
      }
      const command = commandOf(notice, deps.resubmitGraceMs);
      return command ? [{ reference, causationId: notice.eventId, command }] : [];
    });
    if (commands.length === 0) return;
    await deps.collections.apply(commands, transaction);
    transaction.afterCommit(deps.becameDue);
  });
  return [facts];
}

/** The command that a notice is to a collection; none for one about a payout. */
function commandOf(notice: Notice, resubmitGraceMs: number): CollectionOrderCommand['command'] | undefined {
  if (notice.type === 'pesewa.rails.CollectionAmountDecided') {
    const { currency, amount, railFee } = notice.payload;
    return { kind: 'decideAmount', decided: { currency, amount, railFee } };
  }
  const { kind, status, amount, fee, reason, polledAt } = notice.payload;
  if (kind !== 'collection') return undefined;
  const fact = { status, amount, fee, reason: reason ?? status, polledAtMs: Number(polledAt) };
  return { kind: 'observe', resubmitGraceMs, fact };
}
