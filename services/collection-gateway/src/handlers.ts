import { type EventHandling, type HandledEvent, handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { CausedCommand, Collections } from './collections.ts';
import { republish } from './republishing.ts';
import type { CollectionStore } from './store.ts';

const NOTICES = {
  'pesewa.rails.RailStatusObserved': 'handled',
  'pesewa.rails.CollectionAmountDecided': 'handled',
  'pesewa.rails.RepublishRequested': 'handled',
  // For payouts.
  'pesewa.rails.PayoutOutcomeDecided': 'ignored',
  // A claim, which the reconciler checks first.
  'pesewa.rails.CallbackReceived': 'ignored',
} as const satisfies EventHandling<'railNotices'>;

type Notice = HandledEvent<'railNotices', typeof NOTICES>;
type Republishing = Extract<Notice, { readonly type: 'pesewa.rails.RepublishRequested' }>;

/** The collection gateway's handlers: facts end collections, or let them be initiated again. */
export function createHandlers(deps: {
  readonly collections: Pick<Collections, 'apply'>;
  readonly store: Pick<CollectionStore, 'findByReferences'>;
  readonly resubmitGraceMs: number;
  /** Called when collections may have become due for initiation. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const facts = handleTopic('railNotices', NOTICES, async (notices, transaction) => {
    const commands = notices.flatMap((notice, index): readonly CausedCommand[] => {
      if (isRepublishing(notice)) return [];
      const { reference } = notice.payload;
      if (notice.type === 'pesewa.rails.CollectionAmountDecided' && notice.payload.amount <= 0n) {
        transaction.park(index, 'an amount received must be above zero');
        return [];
      }
      const command = commandOf(notice, deps.resubmitGraceMs);
      return command ? [{ reference, causationId: notice.eventId, command }] : [];
    });
    if (commands.length > 0) {
      await deps.collections.apply(commands, transaction);
      transaction.afterCommit(deps.becameDue);
    }
    const own = notices.filter(isRepublishing).filter(({ payload }) => payload.kind === 'collection');
    const asked = own.map(({ payload }) => payload.reference);
    if (asked.length > 0) await republish(deps.store, asked, transaction);
  });
  return [facts];
}

function isRepublishing(notice: Notice): notice is Republishing {
  return notice.type === 'pesewa.rails.RepublishRequested';
}

/** The command that a notice gives for a collection; undefined if it is about a payout. */
function commandOf(
  notice: Exclude<Notice, Republishing>,
  resubmitGraceMs: number,
): CausedCommand['command'] | undefined {
  if (notice.type === 'pesewa.rails.CollectionAmountDecided') {
    const { currency, amount, railFee } = notice.payload;
    return { kind: 'decideAmount', decided: { currency, amount, railFee } };
  }
  const { kind, status, amount, fee, reason, polledAt } = notice.payload;
  if (kind !== 'collection') return undefined;
  const fact = { status, amount, fee, reason: reason ?? status, polledAtMs: Number(polledAt) };
  return { kind: 'observe', resubmitGraceMs, fact };
}
