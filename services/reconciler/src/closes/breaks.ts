import type { Clock } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import type { Resolution } from '../breaks/opening.ts';
import { type BreakStore, breakId } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { breakOf, type Matching, type Side } from '../domain/close.ts';
import { afterReport, type Tracked } from '../domain/tracked.ts';
import { breakOpened, breakResolved } from '../events.ts';
import type { CloseRecord } from './store.ts';

/** The result of an answer in a close. */
export interface CloseFinding {
  readonly record: CloseRecord;
  /** Null if the payment is not known any more. */
  readonly ours: Side | null;
  readonly matching: Matching;
  /** Whether a fact was published. */
  readonly factPublished: boolean;
  /** The breaks that the same answer opens as a poll's. */
  readonly opened: readonly FoundBreak[];
}

/** The dependencies of updating breaks. */
interface BreakDeps {
  readonly breaks: Pick<BreakStore, 'openAndReport' | 'update'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** The breaks of closes; a close finds at most one of them for a payment. */
const OWN = ['close.differs', 'close.missing_there'] as const satisfies readonly BreakKind[];

/**
 * Opens the breaks of finished records, one per discrepancy however often it is found, and closes those that a close no
 * longer finds. Changes the timelines in `payments` in place. Gives the breaks that cover each record.
 */
export async function updateBreaks(
  deps: BreakDeps,
  found: readonly CloseFinding[],
  payments: Map<string, Tracked>,
  transaction: Transaction,
): Promise<readonly (readonly string[])[]> {
  const { session } = transaction;
  const now = new Date(deps.clock.nowMs());
  // The breaks of the answer as a poll's come first: they are what people look for.
  const opening = found.flatMap(({ opened }) => opened);
  const resolving: Resolution[] = [];
  const ids = found.map(({ record, ours, matching }) => {
    const { reference, currency, rail, run: close } = record;
    const { result } = matching;
    if (result === 'pending' || result === 'unclear' || !ours) return undefined;
    const finding = breakOf(matching, ours);
    const mine = finding && breakId(reference, finding.kind);
    const resolution = `close ${close}: ${resultText(result)}`;
    for (const kind of OWN) {
      if (kind !== `close.${result}`) resolving.push({ id: breakId(reference, kind), resolution });
    }
    if (finding && mine) opening.push({ _id: mine, ...finding, reference, rail, currency, openedAt: now });
    return mine;
  });
  const note = (what: 'break' | 'resolved', { kind, reference }: { kind: string; reference: string }) => {
    const tracked = payments.get(reference);
    const isOwn = OWN.some((own) => own === kind);
    if (tracked && isOwn) payments.set(reference, afterReport(tracked, what, kind, now.getTime()));
  };
  const updated = await deps.breaks.update(resolving, now, session);
  for (const document of updated.closed) {
    transaction.emit(breakResolved(document));
    note('resolved', document);
  }
  const { opened, coveringBreaks } = await deps.breaks.openAndReport(opening, session);
  for (const document of [...updated.opened, ...opened]) {
    transaction.emit(breakOpened(document));
    note('break', document);
  }
  return ids.map((id) => (id === undefined ? [] : (coveringBreaks.get(id) ?? [])));
}

function resultText(result: Matching['result']): string {
  return result === 'matched' ? 'both have the same' : result.replace('_', ' ');
}
