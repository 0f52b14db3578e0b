import type { AccountStatementView, EntryView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { StatedEntry, Sums } from './statement.ts';

/** An entry as operators see it: amounts as decimal text, times in ISO 8601. */
export function viewEntry(entry: StatedEntry): EntryView {
  const { id, amount, fee, walletSequence, availableAfter, heldAfter, at, ...rest } = entry;
  const { currency } = entry;
  return {
    id,
    ...rest,
    amount: formatAmount(amount, currency),
    ...(fee !== undefined && { fee: formatAmount(fee, currency) }),
    ...(walletSequence !== undefined && { walletSequence: Number(walletSequence) }),
    ...(availableAfter !== undefined && { availableAfter: formatAmount(availableAfter, currency) }),
    ...(heldAfter !== undefined && { heldAfter: formatAmount(heldAfter, currency) }),
    at: at.toISOString(),
  };
}

/** An entry on a statement: the change that it made to the account, and the balance after it. */
export function viewStatementItem(item: {
  readonly entry: StatedEntry;
  readonly amount: Sums;
  readonly after: Sums;
}): AccountStatementView['items'][number] {
  const { id, at, kind, reference, causationId, debit, credit, currency } = item.entry;
  return {
    id,
    at: at.toISOString(),
    kind,
    reference,
    causationId,
    debit,
    credit,
    amount: viewSums(item.amount, currency),
    balance: viewSums(item.after, currency),
  };
}

/** Sums as decimal text. */
export function viewSums(sums: Sums, currency: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sums).map(([name, minor]) => [name, formatAmount(minor, currency)]),
  );
}
