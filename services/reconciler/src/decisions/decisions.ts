import {
  accept,
  type Clock,
  displayAmount,
  type Ids,
  type Money,
  type PositiveAmountRefusal,
  parsePositiveAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { BreakStore } from '../breaks/store.ts';
import { claimedAmount } from '../domain/amounts.ts';
import { type BreakChange, changed, kindsOf } from '../domain/break.ts';
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

interface Decided {
  readonly id: string;
  readonly verdict: OperatorVerdict;
}

/** Builds {@link Decisions}. */
export function createDecisions(deps: DecisionDeps) {
  const proposing = commitEach(deps.messaging, 'reconciler.proposal', (proposed: Proposed, transaction) =>
    propose(deps, proposed, transaction),
  );
  const deciding = commitEach(deps.messaging, 'reconciler.decision', (decided: Decided, transaction) =>
    conclude(deps, decided, transaction),
  );
  return {
    /**
     * Records a proposal once. The same proposal again gives the same decision; a different one under its id is refused.
     * With `dryRun` it is only judged.
     */
    propose: (
      request: DecisionRequest,
      by: string,
      {
        id = deps.ids.next('dc'),
        dryRun = false,
      }: { readonly id?: string | undefined; readonly dryRun?: boolean } = {},
    ) => proposing({ request, by, id, dryRun }),
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
  const breakId = await chosenBreak(deps, request, taken, session);
  const matter = await matterOf(deps, breakId, request, session);
  const about = matter.ok ? matter.value : taken;
  if (!about) return matter.ok ? refuse('break.unknown') : matter;
  const { reference } = about;
  const terms = termsOf(request, about);
  if (!terms.ok) return taken ? refuse('decision.differs') : terms;
  const named = { id, breakId, reference, ...saidIn(request), ...(matter.ok && groundsOf(matter.value)) };
  const proposal: Decision = { ...named, ...terms.value, requestedBy: by, at, status: 'proposed' };
  if (taken) return isSameDecision(taken, proposal) ? accept(taken) : refuse('decision.differs');
  if (!matter.ok) return matter;
  if (proposal.despite === undefined && isFarBeyond(proposal.minor, matter.value.minor))
    return refuse('amount.far_beyond');
  const others = await deps.decisionStore.find({ reference }, session);
  if (others.some((other) => blocksOthers(other, at.getTime()))) return refuse('decision.open');
  if (dryRun) return accept(proposal);
  if (!(await holdFor(deps, proposal, { by, at, what: 'decision proposed' }, session)))
    return refuse('break.closed');
  // Concurrent decisions about the payment conflict, whichever of its breaks they are about.
  await deps.store.guard(reference, session);
  await deps.decisionStore.insert(proposal, session);
  return accept(proposal);
}

/** What its proposer says of it. */
function saidIn({ note, despite }: DecisionRequest): Pick<Decision, 'note' | 'despite'> {
  return { ...(note !== undefined && { note }), ...(despite !== undefined && { despite }) };
}

/** What a proposal is judged by, kept with it so that the second operator sees what the first one saw. */
function groundsOf({ minor: asked, tracked, terms }: Matter) {
  const claimed = claimedAmount(tracked, terms);
  const { merchantId, rail } = terms;
  return { asked, merchantId, rail, ...(claimed !== null && { claimed }) };
}

async function conclude(
  deps: DecisionDeps,
  { id, verdict }: Decided,
  transaction: Transaction,
): Promise<Result<Decision, DecideRefusal>> {
  const { session } = transaction;
  const [decision] = await deps.decisionStore.find({ id }, session);
  if (!decision) return refuse('decision.unknown');
  const matter = await matterOf(deps, decision.breakId, decision, session);
  const railFee = matter.ok ? feeOf(deps, decision, matter.value.terms) : undefined;
  const decided = decide(decision, verdict, railFee ?? 0n);
  if (!decided.ok || decided.value === decision) return decided;
  const { value } = decided;
  const { by, at } = verdict;
  if (value.status === 'approved') {
    if (!matter.ok) return matter;
    // Without the rail's schedule a fee of zero would be booked.
    if (railFee === undefined) return refuse('rail.unconfigured');
    if (!(await holdFor(deps, value, { by, at, what: 'decision approved' }, session)))
      return refuse('break.closed');
    await publish(deps, value, matter.value, transaction);
  } else await holdFor(deps, value, { by, at, what: 'decision rejected' }, session);
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

/** Notes the change in the history of a decision's break, which a concurrent change conflicts with; false if it is not open. */
async function holdFor(
  { breaks }: DecisionDeps,
  decision: Decision,
  { by, at, what }: Pick<BreakChange, 'by' | 'at' | 'what'>,
  session: ClientSession,
): Promise<boolean> {
  const [held] = await breaks.findAll([decision.breakId], session);
  if (held?.status !== 'open') return false;
  await breaks.save([changed(held, { by, at, what, text: textOf(decision) })], session);
  return true;
}

function textOf({ id, outcome, minor, currency }: Decision): string {
  return `${outcome ?? displayAmount(minor, currency)}: ${id}`;
}

/** The break that a request is about: the named one, else the one its id was used for, else the first open one. */
async function chosenBreak(
  { breaks }: DecisionDeps,
  request: DecisionRequest,
  taken: Decision | undefined,
  session: ClientSession,
): Promise<string> {
  if (taken && request.breakIds.includes(taken.breakId)) return taken.breakId;
  const kept = new Map((await breaks.findAll(request.breakIds, session)).map((one) => [one._id, one]));
  const found = request.breakIds.flatMap((id) => kept.get(id) ?? []);
  const there = found.filter((one) => kindsOf(one).some((kind) => OUTCOME_DECIDABLE.includes(kind)));
  const chosen = there.find(({ status }) => status === 'open') ?? there[0] ?? found[0];
  return chosen?._id ?? request.breakIds[0] ?? '';
}

/** The decided terms: an amount as written, or an outcome with the amount that was asked. */
function termsOf(
  request: DecisionRequest,
  { currency, minor }: Money,
): Result<Money & Pick<Decision, 'outcome'>, PositiveAmountRefusal> {
  const { amount = '', outcome } = request;
  return outcome ? accept({ currency, minor, outcome }) : parsePositiveAmount(amount, currency);
}

/** The subject of a decision: the open break of an open payment; the money is what the payment asks for. */
interface Matter extends Money {
  readonly reference: string;
  readonly tracked: Tracked;
  readonly terms: Terms;
}

async function matterOf(
  { breaks, store }: Pick<DecisionDeps, 'breaks' | 'store'>,
  breakId: string,
  { outcome }: Pick<Decision, 'outcome'>,
  session: ClientSession,
): Promise<Result<Matter, UndecidableReason>> {
  const [about] = await breaks.findAll([breakId], session);
  const reference = about?.reference ?? '';
  const tracked = about && (await store.load([reference], session)).get(reference);
  const decidable = about && { status: about.status, kinds: kindsOf(about) };
  const why = whyUndecidable(decidable, tracked, outcome ? 'outcome' : 'amount');
  if (why) return refuse(why);
  const terms = tracked?.terms;
  if (!about || !tracked || !terms) return refuse('break.unknown');
  return accept({ reference, currency: terms.currency, minor: terms.amount, tracked, terms });
}
