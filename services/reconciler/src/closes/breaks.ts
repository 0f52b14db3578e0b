import type { Clock } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { type BreakStore, breakId, type Resolution } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { breakOf, coveringKind, type Difference, type Matching, type Side } from '../domain/close.ts';
import { remember, type Tracked } from '../domain/tracked.ts';
import type { ReconcilerEvents } from '../events.ts';
import type { CloseRecord } from './store.ts';

/** What an answer came to in a close. */
export interface CloseFinding {
  readonly record: CloseRecord;
  /** Null where the payment is not known any more. */
  readonly ours: Side | null;
  readonly matching: Matching;
  /** Whether a fact went out. */
  readonly told: boolean;
  /** The breaks that the same answer opens as that of a poll. */
  readonly opened: readonly FoundBreak[];
}

/** What breaks are settled with. */
interface BreakDeps {
  readonly breaks: Pick<BreakStore, 'open' | 'resolve' | 'findAll'>;
  readonly events: Pick<ReconcilerEvents, 'breakOpened' | 'breakResolved'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** The breaks of closes; of a payment at most one of them is open. */
const OWN = ['close.differs', 'close.missing_there'] as const satisfies readonly BreakKind[];

/**
 * Opens the breaks of finished records, one per discrepancy however often it is found, and closes those that a close no
 * longer finds; the timelines of `payments` are changed in place. Gives each record's break.
 */
export async function settleBreaks(
  deps: BreakDeps,
  found: readonly CloseFinding[],
  payments: Map<string, Tracked>,
  transaction: Transaction,
): Promise<readonly (string | undefined)[]> {
  const { session } = transaction;
  const now = new Date(deps.clock.nowMs());
  const opening = found.flatMap(({ opened }) => opened);
  const told = await findTold(deps, found, opening, transaction);
  const closing: Resolution[] = [];
  const breakIds = found.map(({ record, ours, matching }) => {
    const { reference, currency, rail, close } = record;
    const { result } = matching;
    if (result === 'pending' || result === 'unclear' || !ours) return undefined;
    const isCovered = (field: Difference['field']) =>
      coveringIds(record, [{ field }]).some((id) => told.has(id));
    const covering = coveringIds(record, matching.differences).find((id) => told.has(id));
    const finding = breakOf(matching, ours, isCovered);
    const mine = finding && breakId(reference, finding.kind);
    const resolution = `close ${close}: ${resultText(result)}`;
    // One that says what is found now stands, even where others have come to tell it too.
    const others = OWN.filter((kind) => kind !== `close.${result}`);
    for (const kind of others) closing.push({ id: breakId(reference, kind), resolution });
    if (finding && mine) opening.push({ _id: mine, ...finding, reference, rail, currency, openedAt: now });
    return mine ?? (result === 'differs' ? covering : undefined);
  });
  const note = (what: 'break' | 'resolved', { kind, reference }: { kind: string; reference: string }) => {
    const tracked = payments.get(reference);
    const isOwn = OWN.some((own) => own === kind);
    if (tracked && isOwn) payments.set(reference, noted(tracked, what, kind, now.getTime()));
  };
  for (const document of await deps.breaks.resolve(closing, now, session)) {
    transaction.emit(deps.events.breakResolved(document));
    note('resolved', document);
  }
  for (const document of await deps.breaks.open(opening, session)) {
    transaction.emit(deps.events.breakOpened(document));
    note('break', document);
  }
  return breakIds;
}

/** The open breaks, those that are being opened now among them, that tell what the records have found. */
async function findTold(
  { breaks }: Pick<BreakDeps, 'breaks'>,
  found: readonly CloseFinding[],
  opening: readonly FoundBreak[],
  { session }: Transaction,
): Promise<ReadonlySet<string>> {
  const ids = found.flatMap(({ record, matching }) => coveringIds(record, matching.differences));
  const known = ids.length > 0 ? await breaks.findAll([...new Set(ids)], session) : [];
  const open = known.filter(({ status }) => status === 'open');
  return new Set([...open, ...opening].map(({ _id }) => _id));
}

/** The breaks that would tell the differences themselves. */
function coveringIds(
  { reference, kind }: CloseRecord,
  differences: readonly Pick<Difference, 'field'>[],
): readonly string[] {
  return differences.flatMap(({ field }) => {
    const covering = coveringKind(field, kind);
    return covering ? [breakId(reference, covering)] : [];
  });
}

function resultText(result: Matching['result']): string {
  return result === 'matched' ? 'both have the same' : result.replace('_', ' ');
}

/** A close's break may open again, so it is remembered only while it is open; the timeline keeps both. */
function noted(tracked: Tracked, what: 'break' | 'resolved', kind: string, atMs: number): Tracked {
  const others = tracked.breaks.filter((other) => other !== kind);
  return {
    ...tracked,
    breaks: what === 'break' ? [...others, kind] : others,
    history: remember(tracked.history, { what, detail: kind, atMs }),
  };
}
