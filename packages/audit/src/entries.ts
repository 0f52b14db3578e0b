import { isCurrency } from '@pesewa/kernel';
import { type Account, chart, createAccountReader } from './accounts.ts';
import type { Findings } from './findings.ts';
import { type EntryRecord, isPlainText, readWhole } from './records.ts';

/** An entry, read and checked by itself. */
export interface ReadEntry {
  readonly id: string;
  readonly kind: string;
  readonly reference: string;
  readonly amount: bigint;
  /** The part of a hold's amount that is our fee. */
  readonly fee: bigint;
  readonly debit: Account | undefined;
  readonly credit: Account | undefined;
  /** The wallet that the entry touches and its number there; both are absent if it touches none. */
  readonly wallet: string | undefined;
  readonly sequence: number;
  readonly atMs: number;
  /** The wallet's balances after the entry, as the entry states them. */
  readonly after: { readonly available: bigint; readonly held: bigint };
}

/** Checks entries one by one: legs, identity, money and currency (L1, L7, L8, L9). */
export function createEntryReader(findings: Findings): (entry: EntryRecord) => ReadEntry {
  const accountOf = createAccountReader();
  return (entry) => {
    const { _id: id, kind, reference } = entry;
    const report = findings.report;
    checkFields(findings, entry);
    const debit = accountOf(entry.debit);
    const credit = accountOf(entry.credit);
    if (id !== `${reference}/${kind}`) {
      report('L7', id, `is the ${kind} of ${reference}, so its id must be ${reference}/${kind}`);
    }
    const amount = readWhole(findings, id, 'amount', entry.amount);
    if (amount <= 0n) report('L1', id, `moves ${amount}, which is not above zero`);
    checkLegs(findings, entry, debit, credit);
    if (!isCurrency(entry.currency)) report('L8', id, `its currency ${entry.currency} has no known scale`);
    const wallet = debit?.wallet ?? credit?.wallet;
    if (wallet !== entry.wallet) {
      report('L3', id, `names the wallet ${entry.wallet ?? 'none'}, but touches ${wallet ?? 'none'}`);
    }
    const whole = (field: 'fee' | 'walletSequence' | 'availableAfter' | 'heldAfter'): bigint =>
      entry[field] === undefined ? 0n : readWhole(findings, id, field, entry[field]);
    return {
      id,
      kind,
      reference,
      amount,
      fee: whole('fee'),
      debit,
      credit,
      wallet,
      sequence: Number(whole('walletSequence')),
      atMs: entry.at instanceof Date ? entry.at.getTime() : 0,
      after: { available: whole('availableAfter'), held: whole('heldAfter') },
    };
  };
}

/** The fields of an entry that the hash of its page covers; money and time are checked where they are read. */
const texts = ['_id', 'kind', 'debit', 'credit', 'currency', 'reference', 'causationId'] as const;
const optionalTexts = ['wallet', 'rail'] as const;
const others = ['amount', 'walletSequence', 'availableAfter', 'heldAfter', 'fee', 'at'] as const;
const fields: ReadonlySet<string> = new Set<keyof EntryRecord>([...texts, ...optionalTexts, ...others]);

/**
 * Checks that an entry has no fields outside its hash, and that none of its texts is ambiguous in the hashed text (L6).
 */
function checkFields(findings: Findings, entry: EntryRecord): void {
  for (const field of texts) {
    if (!isPlainText(entry[field])) findings.report('L6', entry._id, `its ${field} is no plain text`);
  }
  for (const field of optionalTexts) {
    const value = entry[field];
    if (value !== undefined && !isPlainText(value)) {
      findings.report('L6', entry._id, `its ${field} is no plain text`);
    }
  }
  // This runs for every entry, and Object.keys would make a list each time.
  for (const field in entry) {
    if (!fields.has(field)) findings.report('L6', entry._id, `holds ${field}, which no hash covers`);
  }
}

function checkLegs(
  findings: Findings,
  entry: EntryRecord,
  debit: Account | undefined,
  credit: Account | undefined,
): void {
  const { _id: id, kind, currency } = entry;
  if (!debit) findings.report('L1', id, `debits ${entry.debit}, which is no account`);
  if (!credit) findings.report('L1', id, `credits ${entry.credit}, which is no account`);
  if (!debit || !credit) return;
  const legs = chart.get(kind);
  if (!legs) findings.report('L1', id, `is of the kind ${kind}, which is not in the chart`);
  else if (!legs.some(([from, to]) => from === debit.role && to === credit.role)) {
    findings.report('L1', id, `is a ${kind} from ${entry.debit} to ${entry.credit}, as no ${kind} may be`);
  }
  if (debit.currency !== currency || credit.currency !== currency) {
    findings.report(
      'L9',
      id,
      `is in ${currency}, but moves from ${debit.currency} to ${credit.currency}: ${entry.debit}, ${entry.credit}`,
    );
  } else if (debit.wallet !== undefined && credit.wallet !== undefined && debit.wallet !== credit.wallet) {
    findings.report('L1', id, `moves money between two wallets: ${debit.wallet}, ${credit.wallet}`);
  }
}
