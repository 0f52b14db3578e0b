import { isCurrency } from '@pesewa/kernel';
import { type Account, chart, createAccountReader, mayHave } from './accounts.ts';
import type { Findings } from './findings.ts';
import { type EntryRecord, isPlainText, type PostingRecord, readWhole } from './records.ts';

/** An entry, read and checked by itself, with what its posting says of it. */
export interface ReadEntry {
  /** `<reference>/<kind>`, but the posting's id for an entry of the posting's own kind. */
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
  /** The wallet's balances after the last of the posting's entries that touch it, as the posting states them. */
  readonly after?: { readonly available: bigint; readonly held: bigint } | undefined;
}

/** Checks postings one by one: entries, legs, identity, money and currency (L1, L7, L8, L9); gives their entries. */
export function createPostingReader(findings: Findings): (posting: PostingRecord) => readonly ReadEntry[] {
  const accountOf = createAccountReader();
  return (posting) => {
    const { _id: id, kind, reference, currency } = posting;
    const { report } = findings;
    checkFields(findings, posting);
    if (id !== `${reference}/${kind}`) {
      report('L7', id, `is the ${kind} of ${reference}, so its id must be ${reference}/${kind}`);
    }
    if (!isCurrency(currency)) report('L8', id, `its currency ${currency} has no known scale`);
    const whole = (field: 'fee' | 'walletSequence' | 'availableAfter' | 'heldAfter'): bigint =>
      posting[field] === undefined ? 0n : readWhole(findings, id, field, posting[field]);
    const [fee, sequence] = [whole('fee'), Number(whole('walletSequence'))];
    const after = { available: whole('availableAfter'), held: whole('heldAfter') };
    const atMs = posting.at instanceof Date ? posting.at.getTime() : 0;
    const kinds = posting.entries.map((entry) => entry.kind);
    if (!mayHave(kind, kinds))
      report('L7', id, `has the entries ${kinds.join(', ')}, as no ${kind} may have`);
    const entries = posting.entries.map((entry) => {
      const [debit, credit] = [accountOf(entry.debit), accountOf(entry.credit)];
      const wallet = debit?.wallet ?? credit?.wallet;
      const own = entry.kind === kind ? id : `${reference}/${entry.kind}`;
      const amount = readWhole(findings, own, 'amount', entry.amount);
      if (amount <= 0n) report('L1', own, `moves ${amount}, which is not above zero`);
      checkLegs(findings, { ...entry, id: own, currency }, debit, credit);
      return { id: own, kind: entry.kind, reference, amount, fee, debit, credit, wallet, atMs };
    });
    checkAccounts(findings, posting, entries);
    const touching = entries.filter(({ wallet }) => wallet !== undefined);
    return entries.map((entry) => {
      const behind = touching.length - 1 - touching.indexOf(entry);
      if (entry.wallet === undefined) return { ...entry, sequence: 0 };
      return { ...entry, sequence: sequence - behind, ...(behind === 0 && { after }) };
    });
  };
}

/** The fields of a posting that the hash of its page covers; money and time are checked where they are read. */
const texts = ['_id', 'kind', 'currency', 'reference', 'causationId'] as const;
const optionalTexts = ['wallet', 'rail'] as const;
const others = ['entries', 'walletSequence', 'availableAfter', 'heldAfter', 'fee', 'at'] as const;
const fields: ReadonlySet<string> = new Set<keyof PostingRecord>([...texts, ...optionalTexts, ...others]);
const entryTexts = ['kind', 'debit', 'credit'] as const;
const entryFields: ReadonlySet<string> = new Set<keyof EntryRecord>([...entryTexts, 'amount']);

/**
 * Checks that a posting has no fields outside its hash, and that none of its texts is ambiguous in the hashed text
 * (L6).
 */
function checkFields(findings: Findings, posting: PostingRecord): void {
  const report = (message: string) => findings.report('L6', posting._id, message);
  for (const field of texts) if (!isPlainText(posting[field])) report(`its ${field} is no plain text`);
  for (const field of optionalTexts) {
    const value = posting[field];
    if (value !== undefined && !isPlainText(value)) report(`its ${field} is no plain text`);
  }
  // This runs for every posting, and Object.keys would make a list each time.
  for (const field in posting) if (!fields.has(field)) report(`holds ${field}, which no hash covers`);
  if (posting.entries.length === 0) report('has no list of entries');
  for (const entry of posting.entries) {
    for (const field of entryTexts) if (!isPlainText(entry[field])) report(`its ${field} is no plain text`);
    for (const field in entry) if (!entryFields.has(field)) report(`holds ${field}, which no hash covers`);
  }
}

/** Checks that a posting names the only wallet that its entries touch, and that they touch one float at most (L1, L3). */
function checkAccounts(
  findings: Findings,
  { _id: id, wallet }: PostingRecord,
  entries: readonly Pick<ReadEntry, 'debit' | 'credit'>[],
): void {
  const accounts = entries.flatMap(({ debit, credit }) => [debit, credit]);
  const wallets = [...new Set(accounts.flatMap((account) => account?.wallet ?? []))];
  const floats = new Set(accounts.flatMap((account) => (account?.role === 'float' ? account.name : [])));
  if (wallets.length > 1 || floats.size > 1) {
    findings.report('L1', id, `moves money of several: ${[...wallets, ...floats].join(', ')}`);
  }
  if (wallets[0] !== wallet) {
    findings.report('L3', id, `names the wallet ${wallet ?? 'none'}, but touches ${wallets[0] ?? 'none'}`);
  }
}

function checkLegs(
  findings: Findings,
  entry: EntryRecord & Pick<PostingRecord, 'currency'> & { readonly id: string },
  debit: Account | undefined,
  credit: Account | undefined,
): void {
  const { id, kind, currency } = entry;
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
  }
}
