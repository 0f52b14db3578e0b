import { type ChainedLine, type ChainedPosting, walletKeyOf } from '@pesewa/contracts';
import type { Binary } from 'mongodb';
import type { Turnover } from './domain/accounts.ts';
import type { Posting, Refusal, Wallet } from './domain/books.ts';

/** A posting as MongoDB holds it; `_id` is its reference and kind. */
export interface PostingDocument extends ChainedPosting {
  readonly kind: Posting['kind'];
  readonly entries: Posting['entries'];
}

/** A wallet; `_id` is `merchantId:currency`. */
export interface WalletDocument extends Wallet {
  readonly _id: string;
  /** The time of its newest posting. */
  readonly at: Date;
}

/** A refusal, stored so that a replay refuses again; `_id` is that of the posting which was not written. */
export interface RefusalDocument extends Omit<Refusal, 'id'> {
  readonly _id: string;
  readonly at: Date;
}

/** One writer's part of a shared account; the account is the sum of its buckets. */
export interface BucketDocument extends Turnover {
  /** `<account>#<chain>` */
  readonly _id: string;
  readonly account: string;
}

/** One batch's postings, chained to the batch before (ADR 16); `_id` is its chain and number. */
export interface PageDocument {
  readonly _id: string;
  /** The writer partition: `<topic>/<partition>`. */
  readonly chain: string;
  /** From 1, without a gap. */
  readonly number: bigint;
  /** The time of all its postings. */
  readonly at: Date;
  /** The hash of the page before. */
  readonly previous: Binary;
  readonly hash: Binary;
  /** The ids of its postings, in order. */
  readonly postings: readonly string[];
  readonly accounts: readonly ChainedLine[];
}

/** The collections of the ledger's database that postings write. */
export const collectionNames = {
  postings: 'postings',
  wallets: 'wallets',
  refusals: 'refusals',
  buckets: 'accounts',
  pages: 'pages',
} as const;

/** The `_id` of a chain's bucket of an account. */
export function bucketId(account: string, chain: string): string {
  return `${account}#${chain}`;
}

/** A posting with its time; absent fields are not written. */
export function toPostingDocument({ id, ...posting }: Posting, at: Date): PostingDocument {
  return { _id: id, ...posting, at };
}

/** A wallet to be stored, with the time of its newest posting. */
export function toWalletDocument(wallet: Wallet, at: Date): WalletDocument {
  return { _id: walletKeyOf(wallet.merchantId, wallet.currency), ...wallet, at };
}

/** A wallet as the domain knows it. */
export function toWallet({ merchantId, currency, available, held, sequence }: WalletDocument): Wallet {
  return { merchantId, currency, available, held, sequence };
}

/** The stored form of a refusal. */
export function toRefusalDocument({ id, ...refusal }: Refusal, at: Date): RefusalDocument {
  return { _id: id, ...refusal, at };
}
