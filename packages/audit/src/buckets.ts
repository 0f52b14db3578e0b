import { createAccountReader } from './accounts.ts';
import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import {
  type BucketRecord,
  type LineRecord,
  type PageRecord,
  readWhole,
  toWhole,
  type WalletRecord,
} from './records.ts';

/** The stored wallets and shared accounts. */
export interface StoredBalances {
  readonly wallets: readonly WalletRecord[];
  readonly buckets: readonly BucketRecord[];
}

/** What entries add to an account. */
export interface Sides {
  debits: bigint;
  credits: bigint;
}

const none: Readonly<Sides> = { debits: 0n, credits: 0n };
const sides = ['debits', 'credits'] as const;

/**
 * Adds up the shared accounts per writer (L3) and everything stored per currency (L2), over the sums so far, which are keyed
 * by `<account>#<chain>`.
 */
export function createBuckets(findings: Findings, folds: Map<string, Sides>) {
  const accounts = new Set<string>();

  return {
    /** Takes the next page of a chain. A chain's writer has one bucket for each account that it moves. */
    page: (page: PageRecord, entries: readonly ReadEntry[]) => {
      const added = sumByAccount(entries);
      for (const [account, { debits, credits }] of added) {
        const fold = openSides(folds, `${account}#${page.chain}`);
        fold.debits += debits;
        fold.credits += credits;
      }
      for (const line of page.accounts) {
        const fold = folds.get(`${line.account}#${page.chain}`) ?? none;
        checkLine(findings, page._id, line, added.get(line.account) ?? none, fold);
        added.delete(line.account);
      }
      const [unnamed] = added.keys();
      if (unnamed !== undefined) findings.report('L3', page._id, `moves ${unnamed}, but does not name it`);
    },
    /** Compares with every stored bucket, and checks that what wallets own equals what the shared accounts owe. */
    close: (stored: StoredBalances) => {
      const compared = new Set<string>();
      for (const bucket of stored.buckets) {
        compared.add(bucket._id);
        accounts.add(bucket.account);
        checkBucket(findings, bucket, folds.get(bucket._id) ?? none);
      }
      for (const id of folds.keys()) {
        if (!compared.has(id)) findings.report('L3', id, 'has entries, but is not stored');
      }
      checkSums(findings, stored);
    },
    /** Shared accounts. */
    count: () => accounts.size,
  };
}

function openSides(folds: Map<string, Sides>, key: string): Sides {
  const known = folds.get(key);
  if (known) return known;
  const fold = { ...none };
  folds.set(key, fold);
  return fold;
}

/** The amounts that entries move on shared accounts; an invalid account name was reported before. */
function sumByAccount(entries: readonly ReadEntry[]): Map<string, Sides> {
  const sums = new Map<string, Sides>();
  for (const { debit, credit, amount } of entries) {
    if (debit && debit.wallet === undefined) openSides(sums, debit.name).debits += amount;
    if (credit && credit.wallet === undefined) openSides(sums, credit.name).credits += amount;
  }
  return sums;
}

function checkLine(findings: Findings, page: string, line: LineRecord, added: Sides, fold: Sides): void {
  for (const side of sides) {
    const stated = readWhole(findings, page, side, line[side]);
    const after = readWhole(findings, page, `${side}After`, line[`${side}After`]);
    if (stated === added[side] && after === fold[side]) continue;
    const found = `its entries add ${added[side]} and come to ${fold[side]}`;
    findings.report('L3', page, `adds ${stated} ${side} to ${line.account}, to be ${after}; ${found}`);
  }
}

function checkBucket(findings: Findings, stored: BucketRecord, fold: Sides): void {
  const { _id: id, account } = stored;
  if (!id.startsWith(`${account}#`)) findings.report('L3', id, `is stored as a bucket of ${account}`);
  for (const side of sides) {
    const value = readWhole(findings, id, side, stored[side]);
    if (value === fold[side]) continue;
    findings.report('L3', id, `its ${side} are stored as ${value}; its entries come to ${fold[side]}`);
  }
}

/** In each currency the debits of the shared accounts must equal what the wallets own (L2). */
function checkSums(findings: Findings, { wallets, buckets }: StoredBalances): void {
  const accountOf = createAccountReader();
  const sums = new Map<string, bigint>();
  const add = (currency: string, amount: bigint) => sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  for (const { _id: id, account: name, debits, credits } of buckets) {
    const account = accountOf(name);
    if (account && account.wallet === undefined) add(account.currency, toWhole(debits) - toWhole(credits));
    else findings.report('L1', id, `belongs to ${name}, which is no shared account`);
  }
  for (const { currency, available, held } of wallets) add(currency, -toWhole(available) - toWhole(held));
  for (const [currency, sum] of sums) {
    if (sum !== 0n) findings.report('L2', currency, `debits exceed credits over all accounts by ${sum}`);
  }
}
