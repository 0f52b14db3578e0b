import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { LIST_TIMEOUT_MS, paymentId, unlessTooSlow } from '@pesewa/payments';
import { type Db, type Filter, ReadConcern } from 'mongodb';
import {
  type LinePlace,
  linesOf,
  type StatedPosting,
  type StatementLine,
  UNBOOKED_KINDS,
} from './domain/statement.ts';

/** Which part of which wallet's statement is read. */
export interface StatementQuery {
  readonly merchantId: string;
  readonly currency: string;
  /** Inclusive; undefined for all from the first entry on. */
  readonly fromMs: number | undefined;
  /** Exclusive; undefined for all up to now. */
  readonly toMs: number | undefined;
  /** The last line of the page before. */
  readonly after: LinePlace | undefined;
  readonly limit: number;
}

/** What a wallet had at a moment, in minor units. */
export interface WalletMoment {
  readonly available: bigint;
  readonly held: bigint;
}

/** A line with the merchant's own reference; null where no record of a payment with it is left, or it is no payment's. */
export interface ReferencedLine extends StatementLine {
  readonly merchantReference: string | null;
}

/** A page of a wallet's statement: what it had at both ends of the period, and the lines, the oldest first. */
export interface WalletStatement {
  readonly opening: WalletMoment;
  readonly closing: WalletMoment;
  readonly lines: readonly ReferencedLine[];
}

/** Reads wallets' statements; undefined if that took too long because few lines lie between very many holds. */
export type WalletStatements = ReturnType<typeof openWalletStatements>;

/** A payout's booking has two, its amount and its fee. */
const LINES_PER_POSTING = 2;
const projection = {
  _id: 0,
  kind: 1,
  reference: 1,
  entries: 1,
  wallet: 1,
  walletSequence: 1,
  availableAfter: 1,
  heldAfter: 1,
  at: 1,
} satisfies Record<keyof StatedPosting | '_id', 0 | 1>;
const NOTHING: WalletMoment = { available: 0n, held: 0n };
/** The server's own time limit does not help if the server itself stalls. */
const READ_TIMEOUT_MS = 2 * LIST_TIMEOUT_MS;

/** Builds {@link WalletStatements} over the ledger's postings and the records of both gateways, which it only reads. */
export function openWalletStatements(deps: {
  readonly ledger: Db;
  readonly payouts: Db;
  readonly collections: Db;
  readonly clock: Clock;
}) {
  const findReferences = openReferences(deps);
  const read = async (query: StatementQuery) => {
    const page = await readPage(deps.ledger, query);
    const known = await findReferences(
      query.merchantId,
      page.lines.map(({ reference }) => reference),
    );
    const lines = page.lines.map((line) => ({
      ...line,
      merchantReference: known.get(line.reference) ?? null,
    }));
    return { ...page, lines };
  };
  return {
    read: (query: StatementQuery): Promise<WalletStatement | undefined> =>
      unlessTooSlow(() => withDeadline(read(query), READ_TIMEOUT_MS, deps.clock)),
  };
}

/** Reads both ends and the lines from one snapshot, so that they agree whatever is committed meanwhile. */
async function readPage(ledger: Db, query: StatementQuery) {
  return ledger.client.withSession({ snapshot: true }, async (session) => {
    // The session alone takes no snapshot if the client has another read concern.
    const snapshot = ledger.client.db(ledger.databaseName, { readConcern: new ReadConcern('snapshot') });
    const postings = snapshot.collection<StatedPosting>('postings');
    const options = { session, maxTimeMS: LIST_TIMEOUT_MS };
    const { fromMs, toMs, after, limit } = query;
    const wallet = walletKeyOf(query.merchantId, query.currency);
    const momentBefore = async (ms: number | undefined): Promise<WalletMoment> => {
      const filter = { wallet, ...(ms !== undefined && { at: { $lt: new Date(ms) } }) };
      const last = await postings.findOne(filter, { ...options, sort: { at: -1, walletSequence: -1 } });
      return last ? { available: last.availableAfter ?? 0n, held: last.heldAfter ?? 0n } : NOTHING;
    };
    const opening = fromMs === undefined ? NOTHING : await momentBefore(fromMs);
    const closing = await momentBefore(toMs);
    const sequence = after?.sequence ?? 0n;
    const filter: Filter<StatedPosting> = {
      wallet,
      // Time never decreases along a wallet, so what follows a line is never earlier.
      at: {
        $gte: new Date(after?.atMs ?? fromMs ?? 0),
        ...(toMs !== undefined && { $lt: new Date(toMs) }),
      },
      // A posting that a page ended within has a later number: that of its last entry.
      walletSequence: { $gt: sequence },
      kind: { $nin: [...UNBOOKED_KINDS] },
    };
    const found = postings
      .find(filter, { ...options, projection, batchSize: Math.ceil(limit / LINES_PER_POSTING) + 1 })
      .sort({ at: 1, walletSequence: 1 })
      .limit(limit);
    const lines: StatementLine[] = [];
    for await (const posting of found) {
      lines.push(...linesOf(posting).filter((line) => line.sequence > sequence));
      if (lines.length >= limit) break;
    }
    return { opening, closing, lines: lines.slice(0, limit) };
  });
}

interface Referenced {
  readonly _id: string;
  readonly reference: string;
}

/** Finds the merchant's own references by ours; the key of a payment's record is made of its merchant and its reference. */
function openReferences({ payouts, collections }: { readonly payouts: Db; readonly collections: Db }) {
  const places = [
    { prefix: 'po-', records: payouts.collection<Referenced>('payouts') },
    { prefix: 'co-', records: collections.collection<Referenced>('collections') },
  ];
  return async (merchantId: string, references: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const own = paymentId({ merchantId, merchantReference: '' });
    const found = await Promise.all(
      places.map(async ({ prefix, records }) => {
        const asked = [...new Set(references.filter((reference) => reference.startsWith(prefix)))];
        if (asked.length === 0) return [];
        return records
          .find({ reference: { $in: asked } }, { maxTimeMS: LIST_TIMEOUT_MS })
          .project<Referenced>({ reference: 1 })
          .toArray();
      }),
    );
    return new Map(
      found
        .flat()
        .filter(({ _id }) => _id.startsWith(own))
        .map(({ _id, reference }) => [reference, _id.slice(own.length)]),
    );
  };
}
