import { type BucketRecord, createLedgerAudit, type PageRecord, type Violation } from '@pesewa/audit';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import {
  bucketId,
  type PostingDocument,
  toPostingDocument,
  toWalletDocument,
  type WalletDocument,
} from './documents.ts';
import type { Turnover } from './domain/accounts.ts';
import type { Hold, Posting, Refusal, Snapshot, Wallet } from './domain/books.ts';
import type { Instruction } from './domain/instructions.ts';
import { foldInstructions } from './domain/posting.ts';

/** What the ledger stores, as an audit reads it. */
export interface Records {
  readonly pages: PageRecord[];
  readonly postings: Map<string, PostingDocument>;
  readonly wallets: WalletDocument[];
  readonly buckets: BucketRecord[];
}

/** Opens a ledger that keeps in memory what the store keeps in MongoDB; one chain per topic. */
export function openMemoryLedger(refundFee: boolean) {
  const wallets = new Map<string, Wallet>();
  /** The time of each wallet's newest entry. */
  const times = new Map<string, Date>();
  const holds = new Map<string, Hold>();
  const decided = new Map<string, Pick<Posting, 'entries'>>();
  const refusals: Refusal[] = [];
  const postings = new Map<string, PostingDocument>();
  const buckets = new Map<string, BucketRecord>();
  const pages: PageRecord[] = [];
  const addPage = createPages(pages, buckets);
  const snapshot: Snapshot = { wallets, holds, postings: decided };
  let nowMs = 0;

  return {
    /** Applies a batch of one topic. */
    apply: (topic: string, instructions: readonly Instruction[]) => {
      nowMs += 1;
      const folded = foldInstructions(snapshot, instructions, { refundFee });
      for (const [key, { after }] of folded.wallets) {
        wallets.set(key, { ...after });
        times.set(key, new Date(nowMs));
      }
      for (const [key, hold] of folded.holds) holds.set(key, hold);
      for (const refused of folded.refusals) {
        decided.set(refused.id, { entries: [] });
        refusals.push(refused);
      }
      const added = folded.postings.map((posting) => toPostingDocument(posting, new Date(nowMs)));
      for (const posting of added) {
        if (postings.has(posting._id)) throw new Error(`${posting._id} was written twice`);
        postings.set(posting._id, posting);
        decided.set(posting._id, posting);
      }
      if (added.length > 0) addPage(`${topic}/0`, added, folded.accountDeltas);
    },
    /** The stored state now; pages and postings grow with the next batch. */
    records: (): Records => ({
      pages,
      postings,
      buckets: [...buckets.values()],
      wallets: [...wallets].map(([key, wallet]) => toWalletDocument(wallet, times.get(key) ?? new Date(0))),
    }),
    /** Everything except times and pages, which depend on the batches. */
    books: () =>
      structuredClone({
        wallets,
        holds,
        refusals,
        buckets,
        postings: new Map([...postings].map(([id, { at: _at, ...posting }]) => [id, posting])),
      }),
  };
}

/** Adds pages to their chains, and their movements to the buckets. */
function createPages(pages: PageRecord[], buckets: Map<string, BucketRecord>) {
  const heads = new Map<string, PageRecord>();
  return (chain: string, added: readonly PostingDocument[], deltas: ReadonlyMap<string, Turnover>): void => {
    const head = heads.get(chain);
    const [number, previous] = [(head?.number ?? 0n) + 1n, head?.hash ?? GENESIS];
    const accounts = [...deltas].map(([account, { debits, credits }]) => {
      const _id = bucketId(account, chain);
      const before = buckets.get(_id);
      const debitsAfter = (before?.debits ?? 0n) + debits;
      const creditsAfter = (before?.credits ?? 0n) + credits;
      buckets.set(_id, { _id, account, debits: debitsAfter, credits: creditsAfter });
      return { account, debits, credits, debitsAfter, creditsAfter };
    });
    const page: PageRecord = {
      _id: pageId(chain, number),
      chain,
      number,
      at: added[0]?.at ?? new Date(0),
      previous,
      hash: new Uint8Array(pageHash({ chain, number, previous }, added, accounts)),
      postings: added.map(({ _id }) => _id),
      accounts,
    };
    heads.set(chain, page);
    pages.push(page);
  };
}

/** Audits records; pages come as they were written, or chain by chain. */
export function auditRecords(
  { pages, postings, wallets, buckets }: Records,
  order: 'written' | 'byChain' = 'written',
): readonly Violation[] {
  const audit = createLedgerAudit();
  const sorted =
    order === 'written' ? pages : pages.toSorted((left, right) => (left._id < right._id ? -1 : 1));
  for (const page of sorted)
    audit.page(
      page,
      page.postings.map((id) => postings.get(id)),
      postings,
    );
  const heads = new Map(pages.map(({ chain, number }) => [chain, number]));
  audit.close({ wallets, buckets, heads });
  return audit.findings.violations();
}
