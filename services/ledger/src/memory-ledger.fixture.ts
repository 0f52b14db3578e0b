import {
  type BucketRecord,
  createLedgerAudit,
  type EntryRecord,
  type PageRecord,
  type Violation,
} from '@pesewa/audit';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { bucketId, toEntryDocument, toWalletDocument, type WalletDocument } from './documents.ts';
import type { Turnover } from './domain/accounts.ts';
import type { Hold, RefusedOrder, Snapshot, Wallet } from './domain/books.ts';
import type { Instruction } from './domain/instructions.ts';
import { foldInstructions } from './domain/posting.ts';

/** What the ledger stores, as an audit reads it. */
export interface Records {
  readonly pages: PageRecord[];
  readonly entries: Map<string, EntryRecord>;
  readonly wallets: WalletDocument[];
  readonly buckets: BucketRecord[];
}

/** Opens a ledger that keeps in memory what the store keeps in MongoDB; one chain per topic. */
export function openMemoryLedger(refundFee: boolean) {
  const wallets = new Map<string, Wallet>();
  /** The time of each wallet's newest entry. */
  const times = new Map<string, Date>();
  const holds = new Map<string, Hold>();
  const decided = new Set<string>();
  const refusedOrders: RefusedOrder[] = [];
  const entries = new Map<string, EntryRecord>();
  const buckets = new Map<string, BucketRecord>();
  const pages: PageRecord[] = [];
  const addPage = createPages(pages, buckets);
  const snapshot: Snapshot = { wallets, holds, entryIds: decided };
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
      for (const [key, { after }] of folded.holds) holds.set(key, after);
      for (const refused of folded.refusedOrders) {
        decided.add(refused.id);
        refusedOrders.push(refused);
      }
      const added = folded.entries.map((entry) =>
        toEntryDocument(entry, folded.holds.get(entry.reference)?.after, new Date(nowMs)),
      );
      for (const entry of added) {
        if (entries.has(entry._id)) throw new Error(`${entry._id} was written twice`);
        entries.set(entry._id, entry);
        decided.add(entry._id);
      }
      if (added.length > 0) addPage(`${topic}/0`, added, folded.accountDeltas);
    },
    /** The stored state now; pages and entries grow with the next batch. */
    records: (): Records => ({
      pages,
      entries,
      buckets: [...buckets.values()],
      wallets: [...wallets].map(([key, wallet]) => toWalletDocument(wallet, times.get(key) ?? new Date(0))),
    }),
    /** Everything except times and pages, which depend on the batches. */
    books: () =>
      structuredClone({
        wallets,
        holds,
        refusedOrders,
        buckets,
        entries: new Map([...entries].map(([id, { at: _at, ...entry }]) => [id, entry])),
      }),
  };
}

/** Adds pages to their chains, and their movements to the buckets. */
function createPages(pages: PageRecord[], buckets: Map<string, BucketRecord>) {
  const heads = new Map<string, PageRecord>();
  return (chain: string, added: readonly EntryRecord[], deltas: ReadonlyMap<string, Turnover>): void => {
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
      entries: added.map(({ _id }) => _id),
      accounts,
    };
    heads.set(chain, page);
    pages.push(page);
  };
}

/** Audits records; pages come as they were written, or chain by chain. */
export function auditRecords(
  { pages, entries, wallets, buckets }: Records,
  order: 'written' | 'byChain' = 'written',
): readonly Violation[] {
  const audit = createLedgerAudit();
  const sorted =
    order === 'written' ? pages : pages.toSorted((left, right) => (left._id < right._id ? -1 : 1));
  for (const page of sorted)
    audit.page(
      page,
      page.entries.map((id) => entries.get(id)),
      entries,
    );
  const heads = new Map(pages.map(({ chain, number }) => [chain, number]));
  audit.close({ wallets, buckets, heads });
  return audit.findings.violations();
}
