import type { SinglePayoutRequest } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, continueTrace, type Result, refuse } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { addStep } from '@pesewa/payments';
import {
  type Acceptance,
  type AcceptanceDeps,
  contentHashOf,
  createAcceptance,
  isFinal,
  isSameContent,
  newPayout,
} from './acceptance.ts';
import { type AdmissionDeps, admit } from './admission.ts';
import { type PayoutCommand, type PayoutRefusal, payoutDecider } from './domain/payout.ts';
import { describe, keepCompletion } from './domain/payout-state.ts';
import { normaliseRequest, type RequestRefusal } from './domain/request.ts';
import { eventOf } from './events.ts';
import type { Payout, PayoutChange, ReferenceUse } from './store.ts';

/**
 * A command for one payout, and the id of the event behind it; null if that is the event that changed the payout last.
 */
export interface CausedCommand {
  readonly reference: string;
  readonly command: PayoutCommand;
  readonly causationId: string | null;
  /** The payout, if the caller knows it: it is not read, and saved only if it has still this version. */
  readonly known?: Payout | undefined;
}

/** How commands are applied. */
interface ApplyOptions {
  /** Claims payouts that have become due, as far as it can, by the write that makes them due (ADR 5). */
  readonly claimDue?: ClaimDue;
}

/** Gives the changes with the claims that are to be written with them; called once by each run of the transaction. */
export type ClaimDue = (
  changes: readonly PayoutChange[],
  transaction: Transaction,
) => readonly PayoutChange[];

/** The payout gateway's use cases: accepts, shows and advances payouts. */
export type Payouts = ReturnType<typeof createPayouts>;

/** The dependencies of requests for payouts, single or in batches: first they are admitted, then accepted. */
export type RequestDeps = AdmissionDeps & AcceptanceDeps;

interface PayoutsDeps extends RequestDeps {
  readonly nothingToDo: (refusal: PayoutRefusal, reference: string) => void;
}

/** Builds {@link Payouts}. */
export function createPayouts(deps: PayoutsDeps) {
  const { store } = deps;
  const acceptance = createAcceptance(deps);

  return {
    /**
     * Accepts a payout once. The same order again gives the same record; different content is refused (contract 10.3).
     * `traceparent` is that of the request, unchanged.
     */
    request: async (
      merchant: Merchant,
      request: SinglePayoutRequest,
      traceparent?: string,
    ): Promise<Result<Payout, RequestRefusal>> => {
      const arrivedAtMs = deps.clock.nowMs();
      const order = normaliseRequest(request);
      if (!order.ok) return order;
      const contentHash = contentHashOf(order.value);
      const admission = await admit(deps, merchant, {
        requests: [order.value],
        total: order.value.amount,
        pathOf: (_index, field) => `beneficiary.${field}`,
      });
      if (!admission.ok) {
        // Duplicates take precedence over routing, limits and funds, so they are looked for if those refuse.
        const key = { merchantId: merchant.id, merchantReference: order.value.merchantReference };
        const [earlier] = (await store.findUses([key])).values();
        if (earlier) return sameOrRefused(earlier, contentHash);
        if (!isFinal(admission.refusal)) return admission;
        return resultOf(await acceptance.refuse({ key, refusal: admission.refusal }), contentHash);
      }
      const { termsOf, limits } = admission.value;
      const payout = newPayout(deps, {
        merchantId: merchant.id,
        order: order.value,
        contentHash,
        ...termsOf(order.value),
        batchReference: null,
        traceparent: continueTrace(traceparent, deps.ids),
      });
      return resultOf(await acceptance.accept({ payout, limits, arrivedAtMs }), contentHash);
    },
    find: store.find,
    /** Applies commands within a transaction: loads, decides in order, saves, emits. Gives the payouts that changed. */
    apply: (
      commands: readonly CausedCommand[],
      transaction: Transaction,
      options?: ApplyOptions,
    ): Promise<readonly Payout[]> => applyCommands(deps, commands, transaction, options),
  };
}

function resultOf(outcome: Acceptance, contentHash: string): Result<Payout, RequestRefusal> {
  return outcome.kind === 'refused' ? refuse(outcome.refusal) : sameOrRefused(outcome, contentHash);
}

function sameOrRefused(taken: ReferenceUse, contentHash: string): Result<Payout, RequestRefusal> {
  if (taken.kind === 'payout' && isSameContent(taken.payout, contentHash)) return accept(taken.payout);
  const message =
    'transactionReference was used before with other content: use a new reference for a new payout';
  return refuse({ code: 'duplicate', message });
}

async function applyCommands(
  { store, clock, nothingToDo }: Pick<PayoutsDeps, 'store' | 'clock' | 'nothingToDo'>,
  commands: readonly CausedCommand[],
  transaction: Transaction,
  { claimDue }: ApplyOptions = {},
): Promise<readonly Payout[]> {
  const known = commands.flatMap((command) => command.known ?? []);
  const toLoad = commands.flatMap((command) => (command.known ? [] : command.reference));
  const loaded =
    toLoad.length === 0 ? [] : await store.findByReferences([...new Set(toLoad)], transaction.session);
  const changes = new Map<string, PayoutChange>(
    [...loaded, ...known].map((payout) => [payout.reference, { before: payout, after: payout }]),
  );
  for (const { reference, command, causationId } of commands) {
    const change = changes.get(reference);
    if (!change) continue;
    const decision = payoutDecider.decide(command, change.after);
    if (!decision.ok) {
      nothingToDo(decision.refusal, reference);
      continue;
    }
    let { after } = change;
    const cause = causationId ?? after.causedBy;
    for (const domainEvent of decision.value) {
      const { attempts: number, attemptedAtMs: claimedAtMs } = after;
      const atMs = clock.nowMs();
      const timeline = addStep(after.timeline, {
        what: describe(domainEvent),
        atMs,
        ...(claimedAtMs !== null && { attempt: { number, claimedAtMs } }),
      });
      const changed = { ...payoutDecider.evolve(after, domainEvent), ...keepCompletion(after, domainEvent) };
      after = { ...after, ...changed, timeline, causedBy: cause };
      const event = eventOf(domainEvent, after, { causationId: cause, atMs });
      if (event) transaction.emit(event);
    }
    changes.set(reference, { before: change.before, after });
  }
  const changed = [...changes.values()].filter(({ before, after }) => before !== after);
  const written = claimDue?.(changed, transaction) ?? changed;
  await store.save(written, transaction.session);
  return written.map(({ after }) => after);
}
