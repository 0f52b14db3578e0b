import type { ClientSession, Collection, Db, WithId } from 'mongodb';
import {
  collectionNames,
  type PostingDocument,
  type RefusalDocument,
  type RefusedOrderDocument,
  toWallet,
  type WalletDocument,
} from './documents.ts';
import type { StoredAnswers } from './domain/answers.ts';
import { type Hold, holdEndings, type Snapshot } from './domain/books.ts';
import { type Instruction, postingId } from './domain/instructions.ts';

/** What must be read for a batch of instructions. */
export interface ReadSet {
  readonly wallets: readonly string[];
  /** Payouts whose hold may have been refused. */
  readonly references: readonly string[];
  readonly postingIds: readonly string[];
  /** Those of orders, which may have been refused. */
  readonly orderIds: readonly string[];
}

/** The stored state, and the time of the newest posting of all its wallets; 0 if there is none. */
export interface StoredState {
  readonly snapshot: Snapshot;
  readonly newestMs: number;
}

/** Builds the function that reads the stored state for a batch, within the batch's transaction. */
export function createSnapshots(db: Db): (readSet: ReadSet, session: ClientSession) => Promise<StoredState> {
  const wallets = db.collection<WalletDocument>(collectionNames.wallets);
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  const refusals = db.collection<RefusalDocument>(collectionNames.refusals);
  const refusedOrders = db.collection<RefusedOrderDocument>(collectionNames.refusedOrders);
  return async (readSet, session) => {
    // Sequentially, because a session runs one operation at a time.
    const foundWallets = await findAll(wallets, readSet.wallets, session);
    const foundPostings = await findAll(postings, readSet.postingIds, session);
    const foundRefusals = await findAll(refusals, readSet.references, session);
    const foundOrders = await findAll(refusedOrders, readSet.orderIds, session);
    return {
      snapshot: {
        wallets: new Map(foundWallets.map((document) => [document._id, toWallet(document)])),
        holds: new Map([...foundRefusals.map(toRefusedHold), ...toHolds(foundPostings)]),
        postings: new Map([
          ...foundPostings.map(({ _id, entries }) => [_id, { entries }] as const),
          ...foundOrders.map(({ _id }) => [_id, { entries: [] }] as const),
        ]),
      },
      newestMs: foundWallets.reduce((newest, { at }) => Math.max(newest, at.getTime()), 0),
    };
  };
}

/** Builds the reader of what was answered before; it reads within the batch's transaction. */
export function createAnswerReader(
  db: Db,
): (instructions: readonly Instruction[], session: ClientSession) => Promise<StoredAnswers> {
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  const refusals = db.collection<RefusalDocument>(collectionNames.refusals);
  const refusedOrders = db.collection<RefusedOrderDocument>(collectionNames.refusedOrders);
  return async (instructions, session) => {
    const ids = instructions.map(postingId);
    const references = instructions.map(({ reference }) => reference);
    const foundPostings = await findAll(postings, ids, session);
    const foundRefusals = await findAll(refusals, references, session);
    const foundOrders = await findAll(refusedOrders, ids, session);
    return {
      postings: new Map(foundPostings.map((posting) => [posting._id, posting])),
      refusals: new Map([...foundRefusals, ...foundOrders].map((refusal) => [refusal._id, refusal])),
    };
  };
}

function toRefusedHold({
  _id,
  at: _at,
  causationId: _cause,
  sequence: _sequence,
  ...hold
}: WithId<RefusalDocument>): readonly [string, Hold] {
  return [_id, { reference: _id, ...hold, status: 'refused' }];
}

/** Holds as their postings show them: placed by one, ended by another. */
function toHolds(postings: readonly PostingDocument[]): readonly (readonly [string, Hold])[] {
  const byId = new Map(postings.map((posting) => [posting._id, posting]));
  return postings
    .filter(({ kind }) => kind === 'hold')
    .map(({ reference, wallet = '', currency, entries: [placed], fee = 0n, rail = '' }) => {
      const endings = holdEndings.filter(({ kind }) => byId.has(postingId({ reference, kind })));
      return [
        reference,
        {
          reference,
          merchantId: wallet.slice(0, wallet.lastIndexOf(':')),
          currency,
          amount: (placed?.amount ?? 0n) - fee,
          fee,
          rail: byId.get(postingId({ reference, kind: 'capture' }))?.rail ?? rail,
          status: endings.at(-1)?.status ?? 'open',
        },
      ];
    });
}

function findAll<Schema extends { readonly _id: string }>(
  collection: Collection<Schema>,
  ids: readonly string[],
  session: ClientSession,
): Promise<WithId<Schema>[]> {
  if (ids.length === 0) return Promise.resolve([]);
  const filter: object = { _id: { $in: ids } };
  return collection.find(filter, { session, batchSize: ids.length + 1 }).toArray();
}
