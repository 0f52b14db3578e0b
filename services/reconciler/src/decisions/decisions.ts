import { accept, type Clock, type Ids, parsePositiveAmount, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { BreakStore } from '../breaks/store.ts';
import { claimedAmount } from '../domain/amounts.ts';
import {
  type ApprovedDecision,
  blocksOthers,
  checkVerdict,
  type DecideRefusal,
  type Decision,
  type DecisionRequest,
  isFarBeyond,
  isSameDecision,
  matterOf,
  type OperatorVerdict,
  type ProposeRefusal,
} from '../domain/decisions.ts';
import { breakId } from '../domain/observing.ts';
import { decisionApproved } from '../events.ts';
import type { RailFee } from '../handlers.ts';
import type { WorkingStore } from '../store.ts';
import type { DecisionStore } from './store.ts';

/**
 * The operators' decisions on what customers paid or how payouts ended: proposed by one, approved by another (ADR 17).
 */
export type Decisions = ReturnType<typeof createDecisions>;

interface DecisionDeps {
  readonly decisionStore: DecisionStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly store: Pick<WorkingStore, 'load' | 'save' | 'guard'>;
  readonly breaks: Pick<BreakStore, 'findAll'>;
  readonly railFee: RailFee;
  readonly ids: Ids;
  readonly clock: Clock;
}

interface Proposed {
  readonly request: DecisionRequest;
  readonly by: string;
  readonly id?: string | undefined;
  readonly dryRun: boolean;
}

type Decided = OperatorVerdict & { readonly id: string };

/** Builds {@link Decisions}. */
export function createDecisions(deps: DecisionDeps) {
  const { messaging, decisionStore } = deps;
  return {
    /**
     * Records a proposal once. The same proposal again gives the same decision; a different one under its id is refused.
     * With `dryRun` it is only judged.
     */
    propose: commitEach(messaging, 'reconciler.proposal', (proposed: Proposed, { session }) =>
      propose(deps, proposed, session),
    ),
    /** Approves or rejects; an approval publishes the decision in the same transaction. */
    decide: commitEach(messaging, 'reconciler.decision', (decided: Decided, transaction) =>
      decide(deps, decided, transaction),
    ),
    find: async (id: string) => (await decisionStore.find({ _id: id })).at(0),
    list: decisionStore.list,
  };
}

async function propose(
  deps: DecisionDeps,
  { request, by, id = deps.ids.next('dc'), dryRun }: Proposed,
  session: ClientSession,
): Promise<Result<Decision, ProposeRefusal>> {
  const requestedAt = new Date(deps.clock.nowMs());
  const [taken] = await deps.decisionStore.find({ _id: id }, session);
  if (taken) return isSameDecision(taken, request, by) ? accept(taken) : refuse('decision.differs');
  const fields = request.outcome === undefined ? (['amount'] as const) : (['status', 'amount'] as const);
  const breakIds = fields.map((field) => breakId(request.reference, field));
  const matter = await readMatter(deps, breakIds, request, session);
  if (!matter.ok) return matter;
  const { about, tracked, terms } = matter.value;
  const { reference } = tracked;
  const { currency, amount: asked, merchantId, rail } = terms;
  const { amount: written = '', outcome, note, despite } = request;
  const money = outcome ? accept({ minor: asked }) : parsePositiveAmount(written, currency);
  if (!money.ok) return money;
  const amount = money.value.minor;
  if (despite === undefined && isFarBeyond(amount, asked)) return refuse('amount.far_beyond');
  const others = await deps.decisionStore.find({ reference }, session);
  const pending = others.find((other) => blocksOthers(other, requestedAt.getTime()));
  if (pending) return refuse({ pending });
  // What a proposal is judged by is kept with it, so that the second operator sees what the first one saw.
  const judgedBy = { asked, claimed: claimedAmount(tracked, terms) ?? undefined, merchantId, rail };
  const proposal: Decision = {
    _id: id,
    breakId: about._id,
    reference,
    currency,
    amount,
    outcome,
    note,
    despite,
    ...judgedBy,
    requestedBy: by,
    requestedAt,
    status: 'proposed',
  };
  if (dryRun) return accept(proposal);
  // Concurrent decisions about the payment conflict, whichever of its breaks they are about.
  await deps.store.guard(reference, session);
  await deps.decisionStore.insert(proposal, session);
  return accept(proposal);
}

async function decide(
  deps: DecisionDeps,
  { id, ...verdict }: Decided,
  transaction: Transaction,
): Promise<Result<Decision, DecideRefusal>> {
  const { session } = transaction;
  const at = new Date(deps.clock.nowMs());
  const [decision] = await deps.decisionStore.find({ _id: id }, session);
  if (!decision) return refuse('decision.unknown');
  const checked = checkVerdict(decision, verdict, at);
  if (!checked.ok) return checked;
  if (checked.value === 'repeated') return accept(decision);
  const { by, reason } = verdict;
  const rejected = { ...decision, status: 'rejected', rejectedBy: by, rejectedAt: at } as const;
  const decided =
    verdict.verdict === 'approve'
      ? await approve(deps, decision, { by, at }, transaction)
      : accept({ ...rejected, rejectedFor: reason });
  if (decided.ok) await deps.decisionStore.decide(decided.value, session);
  return decided;
}

/**
 * Publishes the approved decision to the owner, and stores it in the payment: when the payment ends, that shows whether
 * it ended as decided.
 */
async function approve(
  deps: DecisionDeps,
  decision: Decision,
  { by, at }: { readonly by: string; readonly at: Date },
  { session, emit }: Transaction,
): Promise<Result<ApprovedDecision, DecideRefusal>> {
  const { outcome, amount } = decision;
  const matter = await readMatter(deps, [decision.breakId], decision, session);
  if (!matter.ok) return matter;
  const { tracked, terms } = matter.value;
  // The rail charges nothing for a payout that it has not paid.
  const railFee = outcome === 'failed' ? 0n : deps.railFee(terms.rail, terms.kind, amount);
  // Without the rail's schedule a fee of zero would be booked.
  if (railFee === undefined) return refuse('rail.unconfigured');
  const approved = { ...decision, status: 'approved', approvedBy: by, approvedAt: at, railFee } as const;
  const decided =
    outcome === undefined ? { decided: [...tracked.decided, amount] } : { decidedOutcome: outcome };
  await deps.store.save([{ ...tracked, ...decided }], session);
  // The same outcome approved again changes nothing, and must meet an end that comes at the same time all the same.
  await deps.store.guard(tracked.reference, session);
  emit(decisionApproved(tracked, terms, approved));
  return accept(approved);
}

async function readMatter(
  { breaks, store }: Pick<DecisionDeps, 'breaks' | 'store'>,
  breakIds: readonly string[],
  request: Pick<DecisionRequest, 'outcome'>,
  session: ClientSession,
) {
  const found = await breaks.findAll(breakIds, session);
  const references = found.map(({ reference }) => reference);
  const payments = await store.load(references, session);
  return matterOf(request, found, [...payments.values()].at(0));
}
