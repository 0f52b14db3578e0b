import type { TopicEvent } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { handleTopic, type Received, type TopicHandler } from '@pesewa/messaging';
import type { Balances } from './balances.ts';
import type { PayoutOrderCommand, Payouts } from './payouts.ts';

const NOTICES = ['pesewa.rails.RailStatusObserved', 'pesewa.rails.PayoutOutcomeDecided'] as const;

type Notice = Received<Extract<TopicEvent<'railNotices'>, { readonly type: (typeof NOTICES)[number] }>>;

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
  const facts = handleTopic('railNotices', NOTICES, async (notices, transaction) => {
    const commands = notices.flatMap((notice): readonly PayoutOrderCommand[] => {
      const command = commandOf(notice, deps.resubmitGraceMs);
      return command ? [{ reference: notice.payload.reference, causationId: notice.eventId, command }] : [];
    });
    if (commands.length === 0) return;
    await deps.payouts.apply(commands, transaction);
    transaction.afterCommit(deps.becameDue);
  });
  const balances = handleTopic('wallets', ['pesewa.wallets.WalletBalanceChanged'], (events, transaction) =>
    deps.balances.apply(
      events.map(({ payload }) => payload),
      transaction.session,
    ),
  );
  return [holds, facts, balances];
}

/** The command that a notice is to a payout; none for one about a collection. */
function commandOf(notice: Notice, resubmitGraceMs: number): PayoutOrderCommand['command'] | undefined {
  if (notice.type === 'pesewa.rails.PayoutOutcomeDecided') {
    const { outcome, railFee, proposedAt, occurredAt } = notice.payload;
    return {
      kind: 'decide',
      resubmitGraceMs,
      decided: { outcome, railFee, knownAtMs: Number(proposedAt), decidedAtMs: Number(occurredAt) },
    };
  }
  const { kind, status, fee, reason, polledAt } = notice.payload;
  if (kind !== 'payout') return undefined;
  const fact = {
    status,
    railFee: fee ?? 0n,
    reason: reason ?? (status === 'completed' ? 'Successful' : status),
    polledAtMs: Number(polledAt),
  };
  return { kind: 'observe', resubmitGraceMs, fact };
}
