import type { Messaging } from '@pesewa/messaging';
import type { Collection } from 'mongodb';
import { COMMANDS, type OrderDocument, toOrderDocument } from './commands.ts';
import { postingId } from './domain/instructions.ts';
import type { Order } from './domain/orders.ts';
import type { AnsweredInstruction } from './domain/own-events.ts';
import type { OwnPage } from './domain/own-pages.ts';
import { type Repeated, rebookPostings, rebookRefusals } from './domain/rebooking.ts';
import { pageEventOf } from './events.ts';
import type { MissingEvents } from './missing-events.ts';
import { readSetOf } from './postings.ts';
import type { LedgerStore } from './store.ts';

/** How far a page that is written again may differ from the published one. */
export type Tolerance =
  /** No difference: it follows the newest page of its chain, and each wallet has the published number. */
  | 'asPublished'
  /** Numbers of wallets may differ, because an earlier entry was never published. */
  | 'otherWalletNumbers'
  /** Earlier pages may be missing too, and postings that can't be booked any more are left out. */
  | 'withGaps';

/** The result of writing a page again. */
export type RewriteOutcome =
  | { readonly kind: 'alreadyWritten' }
  | {
      readonly kind: 'written';
      readonly number: bigint;
      /** Whether it has the published hash. */
      readonly isSame: boolean;
      readonly shifts: Repeated['shifts'];
      readonly leftOut: readonly string[];
    }
  /** Something before it is not written, but may still come. */
  | { readonly kind: 'early'; readonly reason: string }
  /** Something before it is missing in the topic for good. */
  | { readonly kind: 'gap'; readonly reason: string };

/** Writes published events again, each in one transaction. It publishes only a page that was never published. */
export interface PageRewriter {
  readonly page: (
    page: OwnPage,
    tolerance: Tolerance,
    shifts: ReadonlyMap<string, bigint>,
  ) => Promise<RewriteOutcome>;
  readonly refusals: (refused: readonly AnsweredInstruction[], atMs: number) => Promise<void>;
  readonly order: (order: Order) => Promise<void>;
}

/** Builds a {@link PageRewriter}. */
export function createPageRewriter(deps: {
  readonly messaging: Pick<Messaging, 'db' | 'inTransaction'>;
  readonly store: Pick<LedgerStore, 'newestPage' | 'read' | 'write'>;
  readonly missingEvents: Pick<MissingEvents, 'leaveOut'>;
}): PageRewriter {
  const { messaging, store, missingEvents } = deps;
  const orders = messaging.db.collection<OrderDocument>(COMMANDS);
  return {
    page: (page, tolerance, expected) =>
      messaging.inTransaction(async (transaction): Promise<RewriteOutcome> => {
        const { session } = transaction;
        const { snapshot, newestMs } = await store.read(readSetOfAll(page.postings), session);
        const all = rebookPostings(snapshot, page.postings);
        if (page.missing.length === 0 && all.outcomes.every(({ kind }) => kind === 'alreadyApplied'))
          return { kind: 'alreadyWritten' };
        const head = await store.newestPage(page.chain, session);
        const objection =
          tolerance === 'withGaps' ? undefined : whyNotYet(page, head, all, tolerance, expected);
        if (objection) return objection;
        // Without the postings that can't be booked: the others must not depend on them.
        const repeated =
          all.differing.length === 0 ? all : rebookPostings(snapshot, without(page.postings, all.differing));
        let hash = '';
        let { number } = head;
        const mark = { chain: page.chain, atMs: Math.max(page.atMs, newestMs) };
        await store.write(repeated.folded, mark, transaction, (at, written) => {
          if (!written) return;
          hash = Buffer.from(written.hash).toString('hex');
          number = written.number;
          // Published, so that the next restore finds it.
          if (!page.published) transaction.emit(pageEventOf(written, repeated.outcomes, at));
        });
        const leftOut = [...all.differing, ...page.missing];
        await missingEvents.leaveOut(leftOut, session);
        const isSame = hash === page.published?.hash;
        return { kind: 'written', number, isSame, shifts: repeated.shifts, leftOut };
      }),
    refusals: (refused, atMs) =>
      messaging.inTransaction(async (transaction) => {
        const { snapshot } = await store.read(readSetOfAll(refused), transaction.session);
        await store.write(
          rebookRefusals(snapshot, refused),
          { chain: '', atMs },
          transaction,
          () => undefined,
        );
      }),
    order: (order) => repeatOrder(orders, order),
  };
}

const readSetOfAll = (answered: readonly AnsweredInstruction[]) =>
  readSetOf(
    answered.map(({ instruction }) => instruction),
    false,
  );

function without(
  postings: readonly AnsweredInstruction[],
  names: readonly string[],
): readonly AnsweredInstruction[] {
  return postings.filter(({ instruction }) => !names.includes(postingId(instruction)));
}

/** The problem of a page whose number another page has in the database, which lacks the published page's postings. */
export function anotherPage({ chain, published }: OwnPage): string {
  return `page ${published?.number} of ${chain} is another one in our database`;
}

/** Why a page must not be written, or not yet. */
function whyNotYet(
  page: OwnPage,
  head: { readonly number: bigint },
  { differing, shifts }: Repeated,
  tolerance: Exclude<Tolerance, 'withGaps'>,
  expected: ReadonlyMap<string, bigint>,
): RewriteOutcome | undefined {
  const { chain, published, missing } = page;
  if (published && published.number <= head.number) return { kind: 'gap', reason: anotherPage(page) };
  if (published && published.number > head.number + 1n)
    return {
      kind: 'gap',
      reason: `${chain} is at page ${head.number}, and page ${published.number} comes next`,
    };
  if (missing.length > 0)
    return { kind: 'gap', reason: `page ${published?.number} of ${chain} lacks ${missing.join(', ')}` };
  if (differing.length > 0)
    return { kind: 'early', reason: `${differing.join(', ')} can't be booked as it was published` };
  if (tolerance === 'otherWalletNumbers') return undefined;
  for (const [wallet, shift] of shifts) {
    if (shift !== (expected.get(wallet) ?? 0n))
      return {
        kind: 'early',
        reason: `an entry of ${wallet} is missing before page ${published?.number} of ${chain}`,
      };
  }
  return undefined;
}

/** A decided order is no longer proposed; if the database knows the decision already, that stays. */
async function repeatOrder(orders: Collection<OrderDocument>, order: Order): Promise<void> {
  const { _id, ...document } = toOrderDocument(order);
  const decided = { ...document, ...(order.status === 'approved' && { again: true as const }) };
  // The fields that the backup knows stay, including the reason.
  const { reason: _reason, ...known } = decided;
  const { matchedCount } = await orders.updateOne({ _id, status: 'proposed' }, { $set: known });
  if (matchedCount === 0) await orders.updateOne({ _id }, { $setOnInsert: decided }, { upsert: true });
}
