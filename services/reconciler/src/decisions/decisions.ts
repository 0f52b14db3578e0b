import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession } from 'mongodb';
import type { BreakStore } from '../breaks/store.ts';
import {
  type BreakRefusal,
  blocksOthers,
  type DecideRefusal,
  type Decision,
  type DecisionWish,
  decide,
  isSameDecision,
  type ProposeRefusal,
  readDecidedAmount,
  type Verdict,
  whyUndecidable,
} from '../domain/decisions.ts';
import type { Terms, Tracked } from '../domain/tracked.ts';
import type { ReconcilerEvents } from '../events.ts';
import type { RailFee } from '../handlers.ts';
import type { WorkingStore } from '../store.ts';
import type { DecisionPage, DecisionQuery, DecisionStore } from './store.ts';

/** What operators decide that customers paid: proposed by one, approved by another (design 6, ADR 17). */
export interface Decisions {
  /** Records a proposal once; the same again is the same, another under its id is refused. */
  readonly propose: (
    wish: DecisionWish,
    by: string,
    id?: string,
  ) => Promise<Result<Decision, ProposeRefusal>>;
  /** Approves or rejects; an approval publishes the amount in the same transaction. */
  readonly decide: (id: string, verdict: Omit<Verdict, 'at'>) => Promise<Result<Decision, DecideRefusal>>;
  readonly find: (id: string) => Promise<Decision | undefined>;
  readonly list: (query: DecisionQuery) => Promise<DecisionPage>;
}

interface DecisionDeps {
  readonly decisionStore: DecisionStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'hold'>;
  readonly events: ReconcilerEvents;
  readonly railFee: RailFee;
  readonly ids: Ids;
  readonly clock: Clock;
}

interface Proposed {
  readonly wish: DecisionWish;
  readonly by: string;
  readonly id: string;
}

interface Decided {
  readonly id: string;
  readonly verdict: Verdict;
}

/** Builds {@link Decisions}. */
export function createDecisions(deps: DecisionDeps): Decisions {
  // One at a time and in place: they are few, and whoever meets a rival waits for it.
  const alone = { itemsMax: 1 };
  const proposing = deps.messaging.groupCommit<Proposed, Result<Decision, ProposeRefusal>>(
    'reconciler.proposal',
    (items, transaction) => Promise.all(items.map((item) => propose(deps, item, transaction))),
    alone,
  );
  const deciding = deps.messaging.groupCommit<Decided, Result<Decision, DecideRefusal>>(
    'reconciler.decision',
    (items, transaction) => Promise.all(items.map((item) => settle(deps, item, transaction))),
    alone,
  );
  return {
    propose: (wish, by, id = deps.ids.next('dc')) => proposing.submit({ wish, by, id }),
    decide: (id, verdict) =>
      deciding.submit({ id, verdict: { ...verdict, at: new Date(deps.clock.nowMs()) } }),
    find: async (id) => (await deps.decisionStore.find({ id })).at(0),
    list: deps.decisionStore.list,
  };
}

async function propose(
  deps: DecisionDeps,
  { wish, by, id }: Proposed,
  { session }: Transaction,
): Promise<Result<Decision, ProposeRefusal>> {
  const { breakId, note } = wish;
  const nowMs = deps.clock.nowMs();
  const [taken] = await deps.decisionStore.find({ id }, session);
  const matter = await matterOf(deps, breakId, session);
  const about = matter.ok ? matter.value : taken;
  if (!about) return matter.ok ? refuse('break.unknown') : matter;
  const { reference, currency } = about;
  const amount = readDecidedAmount(wish.amount, currency);
  if (!amount.ok) return taken ? refuse('decision.differs') : amount;
  const named = { id, breakId, reference, ...(note !== undefined && { note }) };
  const proposal: Decision = {
    ...named,
    ...amount.value,
    requestedBy: by,
    at: new Date(nowMs),
    status: 'proposed',
  };
  if (taken) return isSameDecision(taken, proposal) ? accept(taken) : refuse('decision.differs');
  if (!matter.ok) return matter;
  const others = await deps.decisionStore.find({ breakId }, session);
  if (others.some((other) => blocksOthers(other, nowMs))) return refuse('decision.open');
  if (!(await deps.breaks.hold(breakId, session))) return refuse('break.closed');
  await deps.decisionStore.insert(proposal, session);
  return accept(proposal);
}

async function settle(
  deps: DecisionDeps,
  { id, verdict }: Decided,
  transaction: Transaction,
): Promise<Result<Decision, DecideRefusal>> {
  const { session } = transaction;
  const [decision] = await deps.decisionStore.find({ id }, session);
  if (!decision) return refuse('decision.unknown');
  const matter = await matterOf(deps, decision.breakId, session);
  const railFee = matter.ok && deps.railFee(matter.value.terms.rail, 'collection', decision.minor);
  const decided = decide(decision, verdict, railFee || 0n);
  if (!decided.ok || decided.value === decision) return decided;
  const { value } = decided;
  if (value.status === 'approved') {
    if (!matter.ok) return matter;
    const { tracked, terms } = matter.value;
    // A fee of nothing would be booked where nobody knows it.
    if (railFee === false || railFee === undefined) return refuse('rail.unconfigured');
    if (!(await deps.breaks.hold(value.breakId, session))) return refuse('break.closed');
    const { breakId, requestedBy: decidedBy, decidedBy: approvedBy, minor: amount } = value;
    // The end tells by this whether it is the one that was decided.
    await deps.store.save([{ ...tracked, decided: [...tracked.decided, amount] }], session);
    const named = { breakId, decidedBy, approvedBy };
    transaction.emit(deps.events.amountDecided({ tracked, terms, amount, railFee, ...named }));
  }
  await deps.decisionStore.settle(value, session);
  return decided;
}

/** What can be decided about: the open break of an open collection. */
interface Matter {
  readonly reference: string;
  readonly currency: string;
  readonly tracked: Tracked;
  readonly terms: Terms;
}

async function matterOf(
  { breaks, store }: Pick<DecisionDeps, 'breaks' | 'store'>,
  breakId: string,
  session: ClientSession,
): Promise<Result<Matter, BreakRefusal>> {
  const [about] = await breaks.findAll([breakId], session);
  const reference = about?.reference ?? '';
  const tracked = about && (await store.load([reference], session)).get(reference);
  const why = whyUndecidable(about, tracked);
  if (why) return refuse(why);
  const terms = tracked?.terms;
  if (!about || !tracked || !terms) return refuse('break.unknown');
  return accept({ reference, currency: terms.currency, tracked, terms });
}
