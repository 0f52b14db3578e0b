import type { BreakSidesView, PaymentKind } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Break } from '../domain/break.ts';
import type { Field } from '../domain/break-kinds.ts';
import { orderWaitsFor } from '../domain/break-life.ts';
import { isEnd } from '../domain/claim.ts';
import { type Side, sideOf } from '../domain/close.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { RecordDocument, StatementStore } from '../statements/store.ts';
import type { WorkingStore } from '../store.ts';
import type { WalletStore } from '../wallets/store.ts';

/** What both sides of a break are read from. */
export interface SideSources {
  readonly store: Pick<WorkingStore, 'load'>;
  readonly wallets: Pick<WalletStore, 'wallets'>;
  readonly statementStore: Pick<StatementStore, 'records'>;
}

const LINES_MAX = 20;

/** What we and the rail have of a break's field, the lines of statements that say so, and what would book the difference. */
export async function readSides(sources: SideSources, one: Break): Promise<BreakSidesView> {
  if (one.field === 'balance') return sidesOfWallet(sources, one);
  const { store, statementStore } = sources;
  const [known, lines] = await Promise.all([
    store.load([one.reference]),
    statementStore.records.find({ breaks: one._id }).sort({ _id: 1 }).limit(LINES_MAX).toArray(),
  ]);
  const tracked = known.get(one.reference);
  const terms = tracked?.terms;
  const side = terms && sideOf(tracked, terms);
  return {
    ours: side ? textOf(side, one) : null,
    theirs: theirsOf(one, side ?? undefined, lines.at(-1)),
    lines: lines.map(({ run, line = null, row }) => ({
      statement: run,
      line,
      receipt: row?.railReference ?? null,
      reference: row?.reference ?? row?.otherReference,
      statusWord: row?.statusWord,
    })),
    floatChange: tracked ? floatChangeOf(one, tracked) : null,
    waitsFor: orderWaitsFor(one, { hasEnded: terms ? isEnd(tracked.status) : null }),
  };
}

async function sidesOfWallet({ wallets }: SideSources, one: Break): Promise<BreakSidesView> {
  const wallet = (await wallets.wallets(one.rail)).find(({ _id }) => _id === one.reference);
  const text = (minor: bigint) => formatAmount(minor, wallet?.currency ?? '');
  return {
    ours: wallet ? text(wallet.latest.float) : null,
    theirs: wallet ? text(wallet.latest.railBalance) : null,
    lines: [],
    floatChange: one.amount === null || one.currency === null ? null : formatAmount(one.amount, one.currency),
    waitsFor: null,
  };
}

/** A side's value of a field; of a field that neither moves nor counts money, its status. */
function textOf(side: Side, { field, currency }: Break): string | null {
  if (field !== 'amount' && field !== 'fee') return side.status;
  const minor = side[field];
  return minor === null || currency === null ? null : formatAmount(minor, currency);
}

function theirsOf(one: Break, side: Side | undefined, line: RecordDocument | undefined): string | null {
  const { field, amount, currency } = one;
  if (currency !== null && (field === 'amount' || field === 'fee')) {
    const ours = side?.[field] ?? null;
    if (ours === null || amount === null) return null;
    // What a reversal has brought back too much is missing in the payment's difference.
    const isOfReversal = one.observations.some(({ kind, ofReversal }) => ofReversal && kind === one.kind);
    return formatAmount(isOfReversal ? ours - amount : ours + amount, currency);
  }
  if (field === 'existence' && line?.row) return formatAmount(line.row.amount, line.row.currency);
  return line?.row?.status ?? null;
}

/** By how much our float would change if the rail is right; null if that is not known, or the payment has not ended. */
function floatChangeOf({ field, amount, currency }: Break, { status, terms }: Tracked): string | null {
  const hasEnded = status === 'completed' || status === 'reversed';
  if (amount === null || currency === null || !terms || !hasEnded) return null;
  const direction = floatDirection(field, terms.kind);
  return direction === 0n ? null : formatAmount(amount * direction, currency);
}

/**
 * What our float gains for each unit that the rail has more than we in a field of an ended payment: what it paid out and
 * charged more is gone from our float, what it received more is in it; 0 if the field says nothing of that.
 */
function floatDirection(field: Field, kind: PaymentKind): 1n | 0n | -1n {
  if (field === 'fee') return -1n;
  if (field !== 'amount') return 0n;
  return kind === 'payout' ? -1n : 1n;
}
