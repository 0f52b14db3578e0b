import type { Clock } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { applyReports, type BreakReport, reportsOfVerdict } from './breaks/reports.ts';
import type { BreakStore } from './breaks/store.ts';
import { afterAutoResolutions, autoResolutionsOf } from './domain/auto-resolution.ts';
import { isOwn } from './domain/claim.ts';
import { gapFinding } from './domain/coverage.ts';
import type { ProofSettings } from './domain/judging.ts';
import { apply, type PaymentObservation } from './domain/observations.ts';
import { toWithdrawal } from './domain/observing.ts';
import { afterProven, judgeProven } from './domain/proven.ts';
import type { Timing } from './domain/schedule.ts';
import { awaited, causeOf, type Tracked } from './domain/tracked.ts';
import { railStatusObserved, stuckSettled } from './events.ts';
import type { ClaimDue } from './polling/claim-due.ts';
import type { WorkingStore } from './store.ts';
import type { FloatMove, WalletStore } from './wallets/store.ts';

/** An observation of a payment, and the event that it comes from. */
export interface ObservedEvent {
  readonly reference: string;
  /** Null if it comes from no event. */
  readonly eventId: string | null;
  /** The trace that the event belongs to. */
  readonly traceparent?: string | undefined;
  readonly observation: PaymentObservation;
  /** Its movement of our float, if it is news. */
  readonly move?: FloatMove;
}

/** The projection of open payments (ADR 27). */
export type WorkingSet = ReturnType<typeof createWorkingSet>;

/** A payment that has ended as people decided: with an amount in minor units, or by an outcome. */
export type AppliedDecision = { readonly reference: string } & (
  | { readonly amount: bigint }
  | { readonly outcome: 'failed' | 'completed' }
);

/** The dependencies of a {@link WorkingSet}. */
export interface WorkingSetDeps {
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly wallets: Pick<WalletStore, 'move'>;
  readonly clock: Clock;
  readonly timing: Omit<Timing, 'nowMs'>;
  readonly proof: ProofSettings;
  /** Called with payments that have ended as people decided. */
  readonly applied: (applied: readonly AppliedDecision[], transaction: Transaction) => Promise<void>;
  readonly claimDue: ClaimDue;
}

/** The results of a batch in addition to the payments themselves. */
interface Outcome extends Pick<Transaction, 'emit'> {
  readonly nowMs: number;
  readonly reports: BreakReport[];
  readonly applied: AppliedDecision[];
}

/** Builds the {@link WorkingSet}. */
export function createWorkingSet(deps: WorkingSetDeps) {
  return {
    /** Applies observations in order within the transaction of their batch. */
    apply: async (events: readonly ObservedEvent[], transaction: Transaction): Promise<void> => {
      if (events.length === 0) return;
      const nowMs = deps.clock.nowMs();
      const { session, emit } = transaction;
      const loaded = await deps.store.load(
        events.map(({ reference }) => reference),
        session,
      );
      const changed = new Map<string, Tracked>();
      const moves: FloatMove[] = [];
      const outcome: Outcome = { emit, nowMs, reports: [], applied: [] };
      for (const event of events) {
        const { reference, observation, move } = event;
        const before = changed.get(reference) ?? loaded.get(reference) ?? awaited(reference, nowMs);
        const news = apply(before, observation, { nowMs, ...deps.timing });
        if (news === before) continue;
        if (move) moves.push(move);
        const observed = withCause(news, event);
        noteEnd(before, observed, event, outcome);
        const proven = takeProven(deps.proof, before, observed, event, outcome);
        changed.set(reference, withConsequences(before, proven, observation, outcome));
      }
      await applyReports(deps.breaks, outcome.reports, changed, transaction);
      const payments = deps.claimDue([...changed.values()], nowMs, transaction);
      await deps.store.save(payments, session);
      await deps.wallets.move(moves, session);
      if (outcome.applied.length > 0) await deps.applied(outcome.applied, transaction);
    },
  };
}

/** The payment with the cause of whatever is found from now on; the ledger's entries only report and are no cause. */
function withCause(tracked: Tracked, { eventId, traceparent: trace, observation }: ObservedEvent): Tracked {
  if (eventId === null || observation.kind === 'posted') return tracked;
  // The trace is that of the owner's events or, before the first one, that of a callback.
  const known = tracked.traceparent;
  const traceparent = (observation.kind === 'called' ? (known ?? trace) : (trace ?? known)) ?? null;
  return { ...tracked, causedBy: eventId, traceparent };
}

/** Publishes that our polls alone have ended a payment, without any callback; notes that it ended as people decided. */
function noteEnd(before: Tracked, after: Tracked, { reference, eventId }: ObservedEvent, outcome: Outcome) {
  if (before.status !== 'open' || after.status === 'open') return;
  const { decided, decidedOutcome } = before;
  const { status, received } = after;
  if (decidedOutcome !== null && decidedOutcome === status)
    outcome.applied.push({ reference, outcome: decidedOutcome });
  else if (received !== null && decided.includes(received))
    outcome.applied.push({ reference, amount: received });
  const isHinted = after.callbacks.some((claim) => after.terms !== null && isOwn(claim, after.terms));
  if (eventId !== null && after.polls > 0 && !isHinted)
    outcome.emit(stuckSettled(after, eventId, outcome.nowMs));
}

/** Judges what the rail proves: this callback, or those that came before the payment itself. */
function takeProven(
  proof: ProofSettings,
  before: Tracked,
  observed: Tracked,
  { eventId: causationId, observation }: ObservedEvent,
  { emit, nowMs, reports }: Outcome,
): Tracked {
  const { terms } = observed;
  if (terms === null) return observed;
  const called = observation.kind === 'called' ? [observation.claim] : [];
  let tracked = observed;
  for (const claim of before.terms === null ? observed.callbacks : called) {
    const verdict = judgeProven(tracked, terms, claim, proof);
    if (!verdict) continue;
    if (verdict.fact) {
      const from = { source: 'provenCallback', atMs: claim.atMs, causationId } as const;
      emit(railStatusObserved(tracked, terms, verdict.fact, from, nowMs));
    }
    reports.push(...reportsOfVerdict(tracked, terms, verdict, new Date(nowMs)));
    tracked = afterProven(tracked, claim, verdict, nowMs);
  }
  return tracked;
}

/** Withdraws the breaks that an observation closes, and opens the one about an audit's finding. */
function withConsequences(
  before: Tracked,
  after: Tracked,
  observation: PaymentObservation,
  { nowMs, reports }: Outcome,
): Tracked {
  const at = new Date(nowMs);
  const { reference, terms } = after;
  const autoResolutions = autoResolutionsOf(before, after, observation);
  const cause = causeOf(after);
  for (const gone of autoResolutions) reports.push(toWithdrawal(reference, { ...gone, cause }, at));
  const finding = observation.kind === 'audited' ? gapFinding(before, observation.record) : undefined;
  if (finding && terms) reports.push(...reportsOfVerdict(after, terms, { findings: [finding] }, at));
  if (autoResolutions.length === 0) return after;
  return afterAutoResolutions(
    after,
    autoResolutions.map(({ kind }) => kind),
  );
}
