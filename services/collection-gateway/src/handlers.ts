import { type EventHandling, type HandledEvent, handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { CausedCommand, Collections } from './collections.ts';
import { republish } from './republishing.ts';
import type { CollectionStore } from './store.ts';

const FACTS = {
  'pesewa.rails.RailStatusObserved': 'handled',
  'pesewa.rails.CollectionAmountDecided': 'handled',
  'pesewa.rails.RepublishRequested': 'handled',
} as const satisfies EventHandling<'collectionFacts'>;

type Fact = HandledEvent<'collectionFacts', typeof FACTS>;
type Republishing = Extract<Fact, { readonly type: 'pesewa.rails.RepublishRequested' }>;

/** The collection gateway's handlers: facts end collections, or let them be initiated again. */
export function createHandlers(deps: {
  readonly collections: Pick<Collections, 'apply'>;
  readonly store: Pick<CollectionStore, 'findByReferences'>;
  readonly resubmitGraceMs: number;
  /** Called when collections may have become due for initiation. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const facts = handleTopic('collectionFacts', FACTS, async (events, transaction) => {
    const commands = events.flatMap((event, index): readonly CausedCommand[] => {
      if (isRepublishing(event)) return [];
      const { reference } = event.payload;
      if (event.type === 'pesewa.rails.CollectionAmountDecided' && event.payload.amount <= 0n) {
        transaction.park(index, 'an amount received must be above zero');
        return [];
      }
      return [{ reference, causationId: event.eventId, command: commandOf(event, deps.resubmitGraceMs) }];
    });
    if (commands.length > 0) {
      await deps.collections.apply(commands, transaction);
      transaction.afterCommit(deps.becameDue);
    }
    const asked = events.filter(isRepublishing).map(({ payload }) => payload.reference);
    if (asked.length > 0) await republish(deps.store, asked, transaction);
  });
  return [facts];
}

function isRepublishing(event: Fact): event is Republishing {
  return event.type === 'pesewa.rails.RepublishRequested';
}

/** The command that a fact or a decision gives for its collection. */
function commandOf(event: Exclude<Fact, Republishing>, resubmitGraceMs: number): CausedCommand['command'] {
  if (event.type === 'pesewa.rails.CollectionAmountDecided') {
    const { currency, amount, railFee } = event.payload;
    return { kind: 'decideAmount', decided: { currency, amount, railFee } };
  }
  const { status, amount, fee, reason, polledAt } = event.payload;
  const fact = { status, amount, fee, reason: reason ?? status, polledAtMs: Number(polledAt) };
  return { kind: 'observe', resubmitGraceMs, fact };
}
