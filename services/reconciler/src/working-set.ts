import type { Clock } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { applyReports, type BreakReport, reportsOfVerdict } from './breaks/reports.ts';
import type { BreakStore } from './breaks/store.ts';
import { afterAutoResolutions, autoResolutionsOf } from './domain/auto-resolution.ts';
import { gapFinding } from './domain/coverage.ts';
import { apply, type PaymentObservation } from './domain/observations.ts';
import { toWithdrawal } from './domain/observing.ts';
import { afterProven, judgeProven, type ProofSettings } from './domain/proven.ts';
import type { Timing } from './domain/schedule.ts';
import { awaited, causeOf, type Tracked } from './domain/tracked.ts';
import { afterVerdict } from './domain/verdict.ts';
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
  | { readonly minor: bigint }
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
  /** Called with each payment that its owner has ended. */
  readonly ended: (payment: Tracked) => void;
}

/** The results of a batch in addition to the payments themselves. */
interface Outcome {
  readonly reports: BreakReport[];
  readonly applied: AppliedDecision[];
  readonly moves: FloatMove[];
}

/** Builds the {@link WorkingSet}. */
export function createWorkingSet(deps: WorkingSetDeps) {
  return {
    /** Applies observations in order within the transaction of their batch. */
    apply: async (events: readonly ObservedEvent[], transaction: Transaction): Promise<void> => {
      if (events.length === 0) return;
      const nowMs = deps.clock.nowMs();
      const loaded = await deps.store.load(
        events.map(({ reference }) => reference),
        transaction.session,
      );
      const changed = new Map<string, Tracked>();
      const ended: Tracked[] = [];
      const outcome: Outcome = { reports: [], applied: [], moves: [] };
      for (const one of events) {
        const { reference, eventId, observation } = one;
        const before = changed.get(reference) ?? loaded.get(reference) ?? awaited(reference, nowMs);
        const news = apply(before, observation, { nowMs, ...deps.timing });
        if (news === before) continue;
        const observed = withCause(news, one);
        if (one.move) outcome.moves.push(one.move);
        if (before.status === 'open' && observed.status !== 'open') {
          ended.push(observed);
          outcome.applied.push(...appliedBy(before, observed));
        }
        if (eventId !== null && endedByPolls(before, observed))
          transaction.emit(stuckSettled(observed, eventId, deps.clock.nowMs()));
        const proven = takeProven(deps, { before, observed, event: one, nowMs }, outcome, transaction);
        const resolved = withAutoResolutions(before, proven, observation, nowMs, outcome);
        changed.set(reference, withAuditFinding(before, resolved, observation, nowMs, outcome));
      }
      await applyReports(deps.breaks, outcome.reports, changed, transaction);
      const payments = deps.claimDue([...changed.values()], nowMs, transaction);
      await deps.store.save(payments, transaction.session);
      await deps.wallets.move(outcome.moves, transaction.session);
      if (outcome.applied.length > 0) await deps.applied(outcome.applied, transaction);
      transaction.afterCommit(() => {
        for (const payment of ended) deps.ended(payment);
      });
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

/** Judges what the rail proves: this callback, or those that came before the payment itself. */
function takeProven(
  deps: WorkingSetDeps,
  now: {
    readonly before: Tracked;
    readonly observed: Tracked;
    readonly event: ObservedEvent;
    readonly nowMs: number;
  },
  outcome: Outcome,
  transaction: Transaction,
): Tracked {
  const { before, observed, event, nowMs } = now;
  const { terms } = observed;
  if (terms === null) return observed;
  const { observation } = event;
  const called = observation.kind === 'called' ? [observation.claim] : [];
  let tracked = observed;
  for (const claim of before.terms === null ? observed.callbacks : called) {
    const verdict = judgeProven(tracked, terms, claim, deps.proof);
    if (!verdict) continue;
    if (verdict.fact) {
      const from = { source: 'provenCallback', atMs: claim.atMs, causationId: event.eventId } as const;
      transaction.emit(railStatusObserved(tracked, terms, verdict.fact, from, deps.clock.nowMs()));
    }
    outcome.reports.push(...reportsOfVerdict(tracked, terms, verdict, new Date(nowMs)));
    tracked = afterProven(tracked, claim, verdict, nowMs);
  }
  return tracked;
}

function withAutoResolutions(
  before: Tracked,
  after: Tracked,
  observation: PaymentObservation,
  nowMs: number,
  outcome: Outcome,
): Tracked {
  const autoResolutions = autoResolutionsOf(before, after, observation);
  if (autoResolutions.length === 0) return after;
  for (const gone of autoResolutions)
    outcome.reports.push(toWithdrawal(after.reference, gone, new Date(nowMs), causeOf(after)));
  return afterAutoResolutions(
    after,
    autoResolutions.map(({ kind }) => kind),
  );
}

/** Opens the break about the audit's finding. */
function withAuditFinding(
  before: Tracked,
  after: Tracked,
  observation: PaymentObservation,
  nowMs: number,
  outcome: Outcome,
): Tracked {
  const finding = observation.kind === 'audited' ? gapFinding(before, observation.record) : undefined;
  if (finding === undefined) return after;
  const found = { fact: null, findings: [finding] };
  if (after.terms !== null)
    outcome.reports.push(...reportsOfVerdict(after, after.terms, found, new Date(nowMs)));
  return afterVerdict(after, found, nowMs);
}

function appliedBy(
  { reference, decided, decidedOutcome: outcome }: Tracked,
  { status, received }: Tracked,
): readonly AppliedDecision[] {
  if (outcome !== null && outcome === status) return [{ reference, outcome }];
  return received !== null && decided.includes(received) ? [{ reference, minor: received }] : [];
}

/** Whether a payment ended by our polls alone, without any callback. */
function endedByPolls(before: Tracked, after: Tracked): boolean {
  return (
    before.status === 'open' && after.status !== 'open' && after.polls > 0 && after.callbacks.length === 0
  );
}
