import { cancellationOperations } from '@pesewa/contracts';
import { findNamed } from '@pesewa/payments';
import { answer, type Logger, refusalsAs, type ServedAnswer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { DecisionApplier } from './decision-applier.ts';
import { decideCancellation } from './domain/cancellation.ts';
import { viewPayout } from './operator-view.ts';
import type { Payout, PayoutStore } from './store.ts';

/** The dependencies of {@link addCancellationRoutes}. */
interface CancellationDeps {
  readonly store: Pick<PayoutStore, 'find' | 'findByReferences'>;
  readonly apply: DecisionApplier['apply'];
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Adds the route by which an operator cancels a payout that was not sent (ADR 84).
 *
 * The transaction reads the payout itself and saves it by its version, which a claim changes too: so either it is claimed
 * or it is cancelled, and what is read before only saves a transaction.
 */
export function addCancellationRoutes(operator: Hono, { store, apply, logger }: CancellationDeps): void {
  const cancel = async (request: CancellationRequest, by: string): Promise<Cancelling> => {
    const found = await findNamed<Payout>(store, 'po', request);
    if (!found.ok) return found.refusal;
    const { reference } = found.value;
    const judged = decideCancellation(by, found.value);
    if (!judged.ok)
      return judged.refusal === 'payout.already_there' ? done(found.value) : refusals(judged.refusal);
    if (request.dryRun) return answer(200, viewPayout(found.value));
    const changed = await apply({ reference, causationId: null, command: { kind: 'cancel', by } });
    // Otherwise it has changed since it was read, and what it is now says why.
    if (!changed) return cancel(request, by);
    logger.info({ reference, operator: by }, 'an operator cancelled a payout');
    return done(changed);
  };
  serveOperations(operator, cancellationOperations, {
    cancel: ({ body, operator: by }) => cancel(body, by),
  });
}

interface CancellationRequest {
  readonly reference: string;
  readonly merchant?: string | undefined;
  readonly dryRun: boolean;
}

type Cancelling = ServedAnswer<typeof cancellationOperations.cancel>;

const done = (payout: Payout) =>
  payout.status === 'INITIALIZED' ? answer(202, viewPayout(payout)) : answer(200, viewPayout(payout));

const refusals = refusalsAs({
  'payout.ended': ['ended', 'this payout has ended, and an end stays'],
  'payout.maybe_sent': [
    'maybe_sent',
    'this payout was sent to its rail, or may have been: only the answer of the rail, or two operators, can end it',
  ],
});
