import { walletKeyOf } from '@pesewa/contracts';
import type { ClientSession, Collection, Db, WithId } from 'mongodb';
import {
  collectionNames,
  type PostingDocument,
  type RefusalDocument,
  toWallet,
  type WalletDocument,
} from './documents.ts';
import type { StoredAnswers } from './domain/answers.ts';
import { type Hold, holdEndings, type Snapshot } from './domain/books.ts';
import { type Instruction, postingId } from './domain/instructions.ts';

/** What must be read for a batch of instructions. */
export interface ReadSet {
  readonly wallets: readonly string[];
  readonly postingIds: readonly string[];
  /** The postings of holds and orders, which may have been refused. */
  readonly refusableIds: readonly string[];
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
  return async (readSet, session) => {
    // Sequentially, because a session runs one operation at a time.
    const foundWallets = await findAll(wallets, readSet.wallets, session);
    const foundPostings = await findAll(postings, readSet.postingIds, session);
    const foundRefusals = await findAll(refusals, readSet.refusableIds, session);
    return {
      snapshot: {
        wallets: new Map(foundWallets.map((document) => [document._id, toWallet(document)])),
        holds: new Map([...foundRefusals.flatMap(toRefusedHold), ...toHolds(foundPostings)]),
        postings: new Map([
          ...foundPostings.map(({ _id, entries }) => [_id, { entries }] as const),
          ...foundRefusals.map(({ _id }) => [_id, { entries: [] }] as const),
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
  const wallets = db.collection<WalletDocument>(collectionNames.wallets);
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  const refusals = db.collection<RefusalDocument>(collectionNames.refusals);
  /** Found by the wallet's own time and number, which are those of its newest posting. */
  async function findNewest(
    instructions: readonly Instruction[],
    session: ClientSession,
  ): Promise<readonly PostingDocument[]> {
    const keys = instructions.flatMap((instruction) =>
      'merchantId' in instruction ? walletKeyOf(instruction.merchantId, instruction.currency) : [],
    );
    const found = await findAll(wallets, [...new Set(keys)], session);
    if (found.length === 0) return [];
    const newest = found.map(({ _id: wallet, at, sequence: walletSequence }) => ({
      wallet,
      at,
      walletSequence,
    }));
    return postings.find({ $or: newest }, { session }).toArray();
  }
  return async (instructions, session) => {
    const ids = instructions.map(postingId);
    const foundPostings = await findAll(postings, ids, session);
    const foundRefusals = await findAll(refusals, ids, session);
    const newest = await findNewest(instructions, session);
    return {
      postings: new Map(foundPostings.map((posting) => [posting._id, posting])),
      refusals: new Map(foundRefusals.map((refusal) => [refusal._id, refusal])),
      newest: new Map(newest.map((posting) => [posting.wallet ?? '', posting])),
    };
  };
}

/** A refused hold; nothing for a refused order. */
function toRefusedHold({
  _id,
  fee,
  rail,
  merchantId,
  currency,
  amount,
}: RefusalDocument): readonly (readonly [string, Hold])[] {
  if (fee === undefined || rail === undefined) return [];
  const reference = _id.slice(0, _id.lastIndexOf('/'));
  return [[reference, { reference, merchantId, currency, amount, fee, rail, status: 'refused' }]];
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
