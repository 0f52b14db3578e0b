import { handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { Collections } from './collections.ts';

/** What the gateway makes of the topics it consumes: facts end collections, or let them go out again. */
export function createHandlers(deps: {
  readonly collections: Pick<Collections, 'apply'>;
  readonly resubmitGraceMs: number;
  /** Called when collections may have become due for initiation. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const facts = handleTopic(
    'railNotices',
    ['pesewa.rails.RailStatusObserved'],
    async (events, transaction) => {
      const commands = events
        .filter(({ payload }) => payload.kind === 'collection')
        .map(({ payload, eventId }) => ({
          reference: payload.reference,
          causationId: eventId,
          command: {
            kind: 'observe' as const,
            resubmitGraceMs: deps.resubmitGraceMs,
            fact: {
              status: payload.status,
              amount: payload.amount,
              fee: payload.fee,
              reason: payload.reason ?? payload.status,
              polledAtMs: Number(payload.polledAt),
            },
          },
        }));
      if (commands.length === 0) return;
      await deps.collections.apply(commands, transaction);
      transaction.afterCommit(deps.becameDue);
    },
  );
  return [facts];
}
