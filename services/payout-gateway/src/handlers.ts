import type { Clock } from '@pesewa/kernel';
import { handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { Balances } from './balances.ts';
import type { Payouts } from './payouts.ts';

/** What the gateway makes of the topics it consumes: holds let payouts go out, facts end them, balances are kept. */
export function createHandlers(deps: {
  readonly payouts: Payouts;
  readonly balances: Pick<Balances, 'apply'>;
  readonly clock: Clock;
  readonly resubmitGraceMs: number;
  /** Called when payouts have become due for submission. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const holds = handleTopic(
    'ledger',
    ['pesewa.ledger.HoldPlaced', 'pesewa.ledger.HoldRefused'],
    async (events, transaction) => {
      const nowMs = deps.clock.nowMs();
      const commands = events.map((event) => ({
        reference: event.payload.reference,
        causationId: event.eventId,
        command:
          event.type === 'pesewa.ledger.HoldPlaced'
            ? ({ kind: 'confirmHold', nowMs } as const)
            : ({ kind: 'refuseHold', reason: event.payload.reason } as const),
      }));
      await deps.payouts.apply(commands, transaction);
      transaction.afterCommit(deps.becameDue);
    },
  );
  const facts = handleTopic(
    'railNotices',
    ['pesewa.rails.RailStatusObserved'],
    async (events, transaction) => {
      const commands = events
        .filter(({ payload }) => payload.kind === 'payout')
        .map(({ payload, eventId }) => ({
          reference: payload.reference,
          causationId: eventId,
          command: {
            kind: 'observe' as const,
            resubmitGraceMs: deps.resubmitGraceMs,
            fact: {
              status: payload.status,
              railFee: payload.fee ?? 0n,
              reason: payload.reason ?? (payload.status === 'completed' ? 'Successful' : payload.status),
              polledAtMs: Number(payload.polledAt),
            },
          },
        }));
      if (commands.length === 0) return;
      await deps.payouts.apply(commands, transaction);
      transaction.afterCommit(deps.becameDue);
    },
  );
  const balances = handleTopic('wallets', ['pesewa.wallets.WalletBalanceChanged'], (events, transaction) =>
    deps.balances.apply(
      events.map(({ payload }) => payload),
      transaction.session,
    ),
  );
  return [holds, facts, balances];
}
