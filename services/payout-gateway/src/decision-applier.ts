import type { Clock, Ids } from '@pesewa/kernel';
import { type Messaging, startClaimLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { CausedCommand, Payouts } from './payouts.ts';
import type { Payout, PayoutStore } from './store.ts';

const WORK_TIMEOUT_MS = 10_000;
const LEASE_MS = 15_000;
/** There are very few of them, and they have waited for an attempt already. */
const CONCURRENCY_MAX = 4;

interface DecisionApplierDeps {
  readonly store: Pick<PayoutStore, 'collection'>;
  readonly payouts: Pick<Payouts, 'apply'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** How long an attempt may still be executed by the rail. */
  readonly resubmitGraceMs: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** The loop, and the transactions in which people's decisions end payouts. */
export type DecisionApplier = ReturnType<typeof startDecisionApplier>;

/**
 * Ends payouts that people decided while an attempt was in progress, once the attempt must be over without an answer;
 * if the attempt came after what people knew, the decision lapses instead (ADR 23).
 *
 * It asks no rail and needs none, so the payouts of a removed rail end here too.
 */
export function startDecisionApplier(deps: DecisionApplierDeps) {
  const ends = deps.messaging.groupCommit<CausedCommand, Payout | undefined>(
    'payouts.decided',
    async (commands, transaction) => {
      const changed = await deps.payouts.apply(commands, transaction);
      return commands.map(({ reference }) => changed.find((payout) => payout.reference === reference));
    },
  );
  const command = { kind: 'applyDecided', resubmitGraceMs: deps.resubmitGraceMs } as const;
  const loop = startClaimLoop({
    name: 'payout decision applier',
    collection: deps.store.collection,
    open: { 'decided.isPending': true },
    leaseMs: LEASE_MS,
    workTimeoutMs: WORK_TIMEOUT_MS,
    batchMax: CONCURRENCY_MAX,
    concurrencyMax: CONCURRENCY_MAX,
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    ids: deps.ids,
    logger: deps.logger,
    work: async ({ reference }) => {
      await ends.submit({ reference, causationId: null, command });
    },
  });
  return {
    ...loop,
    /** Applies a command of an operator; gives the payout if it was changed. */
    apply: ends.submit,
  };
}
