import {
  accept,
  type Clock,
  displayAmount,
  type Ids,
  parsePositiveAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { BreakStore } from '../breaks/store.ts';
import { claimedAmount } from '../domain/amounts.ts';
import { type Break, type BreakChange, changed, kindsOf } from '../domain/break.ts';
import {
  type ApprovedDecision,
  blocksOthers,
  type DecideRefusal,
  type Decision,
  type DecisionRequest,
  decide,
  isFarBeyond,
  isSameDecision,
  type OperatorVerdict,
  OUTCOME_DECIDABLE,
  type ProposeRefusal,
  type UndecidableReason,
  whyUndecidable,
} from '../domain/decisions.ts';
import type { Terms, Tracked } from '../domain/tracked.ts';
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
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly railFee: RailFee;
  readonly ids: Ids;
  readonly clock: Clock;
}

interface Proposed {
  readonly request: DecisionRequest;
  readonly by: string;
  readonly id: string;
  readonly dryRun: boolean;
}

/** Builds {@link Decisions}. */
export function createDecisions(deps: DecisionDeps) {
  const proposing = commitEach(deps.messaging, 'reconciler.proposal', (proposed: Proposed, transaction) =>
    propose(deps, proposed, transaction),
  );
  const deciding = commitEach(
    deps.messaging,
    'reconciler.decision',
    (decided: Parameters<typeof conclude>[1], transaction) => conclude(deps, decided, transaction),
  );
  return {
    /**
     * Records a proposal once. The same proposal again gives the same decision; a different one under its id is refused.
     * With `dryRun` it is only judged.
     */
    propose: ({ id = deps.ids.next('dc'), ...proposed }: Omit<Proposed, 'id'> & { readonly id?: string }) =>
      proposing({ ...proposed, id }),
    /** Approves or rejects; an approval publishes the decision in the same transaction. */
    decide: (id: string, verdict: Omit<OperatorVerdict, 'at'>) =>
      deciding({ id, verdict: { ...verdict, at: new Date(deps.clock.nowMs()) } }),
    find: async (id: string) => (await deps.decisionStore.find({ id })).at(0),
    list: deps.decisionStore.list,
  };
}

async function propose(
  deps: DecisionDeps,
  { request, by, id, dryRun }: Proposed,
  { session }: Transaction,
): Promise<Result<Decision, ProposeRefusal>> {
  const at = new Date(deps.clock.nowMs());
  const [taken] = await deps.decisionStore.find({ id }, session);
  if (taken) return isSameDecision(taken, request, by) ? accept(taken) : refuse('decision.differs');
  const about = await chosenBreak(deps, request, session);
  const matter = await matterOf(deps, about, request, session);
  if (!matter.ok) return matter;
  const { about: held, tracked, terms } = matter.value;
  const { reference } = held;
  const { currency, amount: asked, merchantId, rail } = terms;
  const { amount: written = '', outcome, note, despite } = request;
  const money = outcome ? accept({ currency, minor: asked }) : parsePositiveAmount(written, currency);
  if (!money.ok) return money;
  if (despite === undefined && isFarBeyond(money.value.minor, asked)) return refuse('amount.far_beyond');
  const others = await deps.decisionStore.find({ reference }, session);
  if (others.some((other) => blocksOthers(other, at.getTime()))) return refuse('decision.open');
  const claimed = claimedAmount(tracked, terms);
  const proposal: Decision = {
    id,
    breakId: held._id,
    reference,
    ...money.value,
    asked,
    merchantId,
    rail,
    requestedBy: by,
    at,
    ...(outcome && { outcome }),
    ...(note !== undefined && { note }),
    ...(despite !== undefined && { despite }),
    // What a proposal is judged by is kept with it, so that the second operator sees what the first one saw.
    ...(claimed !== null && { claimed }),
    status: 'proposed',
  };
  if (dryRun) return accept(proposal);
  await noteIn(deps, held, proposal, { by, at, what: 'decision proposed' }, session);
  // Concurrent decisions about the payment conflict, whichever of its breaks they are about.
  await deps.store.guard(reference, session);
  await deps.decisionStore.insert(proposal, session);
  return accept(proposal);
}

async function conclude(
  deps: DecisionDeps,
  { id, verdict }: { readonly id: string; readonly verdict: OperatorVerdict },
  transaction: Transaction,
): Promise<Result<Decision, DecideRefusal>> {
  const { session } = transaction;
  const [decision] = await deps.decisionStore.find({ id }, session);
  if (!decision) return refuse('decision.unknown');
  const [about] = await deps.breaks.findAll([decision.breakId], session);
  const matter = await matterOf(deps, about, decision, session);
  const railFee = matter.ok ? feeOf(deps, decision, matter.value.terms) : undefined;
  const decided = decide(decision, verdict, railFee ?? 0n);
  if (!decided.ok || decided.value === decision) return decided;
  const { value } = decided;
  const { by, at } = verdict;
  if (value.status === 'approved') {
    if (!matter.ok) return matter;
    // Without the rail's schedule a fee of zero would be booked.
    if (railFee === undefined) return refuse('rail.unconfigured');
    await publish(deps, value, matter.value, transaction);
  }
  const what = value.status === 'approved' ? 'decision approved' : 'decision rejected';
  if (about?.status === 'open') await noteIn(deps, about, value, { by, at, what }, session);
  await deps.decisionStore.decide(value, session);
  return decided;
}

/** The rail's fee for the decided outcome, by its schedule: zero for a payout that it did not pay. */
function feeOf({ railFee }: DecisionDeps, { outcome, minor }: Decision, { rail }: Terms): bigint | undefined {
  if (outcome === 'failed') return 0n;
  return railFee(rail, outcome === undefined ? 'collection' : 'payout', minor);
}

/**
 * Publishes the approved decision to the owner, and stores it in the payment: when the payment ends, that shows whether
 * it ended as decided.
 */
async function publish(
  deps: DecisionDeps,
  approved: ApprovedDecision,
  { tracked, terms }: Matter,
  { session, emit }: Transaction,
): Promise<void> {
  const { outcome, minor } = approved;
  const decided =
    outcome === undefined ? { decided: [...tracked.decided, minor] } : { decidedOutcome: outcome };
  await deps.store.save([{ ...tracked, ...decided }], session);
  // The same outcome approved again changes nothing, and must meet an end that comes at the same time all the same.
  await deps.store.guard(tracked.reference, session);
  emit(decisionApproved(tracked, terms, approved));
}

/** Notes the change in the history of a decision's open break, which a concurrent change conflicts with. */
async function noteIn(
  { breaks }: DecisionDeps,
  about: Break,
  { id, outcome, minor, currency }: Decision,
  line: Pick<BreakChange, 'by' | 'at' | 'what'>,
  session: ClientSession,
): Promise<void> {
  const text = `${outcome ?? displayAmount(minor, currency)}: ${id}`;
  await breaks.save([changed(about, { ...line, text })], session);
}

/** The break that a request is about: the first open one in which an outcome can be decided, else the first. */
async function chosenBreak(
  { breaks }: DecisionDeps,
  { breakIds }: DecisionRequest,
  session: ClientSession,
): Promise<Break | undefined> {
  const kept = new Map((await breaks.findAll(breakIds, session)).map((one) => [one._id, one]));
  const found = breakIds.flatMap((id) => kept.get(id) ?? []);
  const there = found.filter((one) => kindsOf(one).some((kind) => OUTCOME_DECIDABLE.includes(kind)));
  return there.find(({ status }) => status === 'open') ?? there[0] ?? found[0];
}

/** The subject of a decision: the open break of an open payment. */
interface Matter {
  readonly about: Break;
  readonly tracked: Tracked;
  readonly terms: Terms;
}

async function matterOf(
  { store }: Pick<DecisionDeps, 'store'>,
  about: Break | undefined,
  { outcome }: Pick<Decision, 'outcome'>,
  session: ClientSession,
): Promise<Result<Matter, UndecidableReason>> {
  if (!about) return refuse('break.unknown');
  const { reference, status } = about;
  const tracked = (await store.load([reference], session)).get(reference);
  const decidable = { status, kinds: kindsOf(about) };
  const why = whyUndecidable(decidable, tracked, outcome ? 'outcome' : 'amount');
  if (why) return refuse(why);
  return tracked?.terms ? accept({ about, tracked, terms: tracked.terms }) : refuse('break.unknown');
}
