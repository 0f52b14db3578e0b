import type { ClientSession, Db } from 'mongodb';
import { createArchive, type Gateway } from './archive.ts';
import { type Batch, readPostings } from './page-stream.ts';
import {
  checkCollection,
  checkMoney,
  checkPayout,
  collectionKinds,
  type EntriesByKind,
  payoutKinds,
} from './payments.ts';
import { type CheckDeps, RECORDS_PER_READ, recheckAll } from './recheck.ts';
import type { PaymentRecord, PostingRecord } from './records.ts';
import { collections } from './snapshot.ts';

/** The databases that a cross check reads. */
export interface Databases {
  readonly ledger: Db;
  readonly payouts: Db;
  readonly collections: Db;
}

/** Compares the gateways' records with the books, in both directions (L5, L10, L11). Archived ones are only counted. */
export interface CrossCheck {
  /** Checks that the payments of these postings exist. */
  readonly postings: (batch: Batch) => Promise<void>;
  /** Checks all payments of both gateways; `onRead` gets how many were read so far. */
  readonly payments: (onRead: (count: number) => void) => Promise<void>;
  /** The number of payments that postings name and whose records are archived. */
  readonly archived: () => number;
}

const projection = {
  _id: 0,
  reference: 1,
  merchantId: 1,
  currency: 1,
  amount: 1,
  amountReceived: 1,
  fee: 1,
  status: 1,
  step: 1,
} as const;

/** The rule that is broken by a posting whose payment does not exist. */
const rules = { payouts: 'L5', collections: 'L11' } as const;

/** The gateway that must have a posting's payment; the other kinds depend on one of these and are judged with it. */
const gateways: ReadonlyMap<string, Gateway> = new Map([
  ['hold', 'payouts'],
  ['refund', 'payouts'],
  ['collect', 'collections'],
]);

/**
 * Builds a {@link CrossCheck}. The ledger lags behind the gateways, which it follows by events: a payment that differs
 * from its entries is read again, and counts only when no such payment has agreed for `allowedLagMs`.
 */
export function createCrossCheck(deps: CheckDeps & { readonly databases: Databases }): CrossCheck {
  const { databases, session, findings } = deps;
  const paymentsOf = (gateway: Gateway) => databases[gateway].collection<PaymentRecord>(gateway);
  const archiveOf = (gateway: Gateway) =>
    createArchive({ gateway, db: databases[gateway], invariant: rules[gateway], session, findings });
  const archive = { payouts: archiveOf('payouts'), collections: archiveOf('collections') };
  const checkAll = { payouts: checkPayouts, collections: checkCollections } as const;

  /**
   * The payments of a batch that differ from their entries. The entries are read after them and are therefore not
   * older.
   */
  async function disagreements(gateway: Gateway, payments: readonly PaymentRecord[]) {
    const judged = await checkAll[gateway](databases.ledger, session, payments);
    return new Map([...judged].filter(([, told]) => told.length > 0));
  }

  const again = (gateway: Gateway) => async (references: readonly string[]) => {
    const filter = { reference: { $in: references } };
    const payments = await paymentsOf(gateway).find(filter, { session, projection }).toArray();
    return disagreements(gateway, payments);
  };
  return {
    postings: async ({ pages }) => {
      for (const gateway of ['payouts', 'collections'] as const) {
        const own = pages.flatMap(({ postings }) =>
          postings.flatMap((posting) => (posting && gateways.get(posting.kind) === gateway ? [posting] : [])),
        );
        if (own.length === 0) continue;
        const references = own.map(({ reference }) => reference);
        const known = await paymentsOf(gateway)
          .find({ reference: { $in: references } }, { session, projection: { _id: 0, reference: 1 } })
          .toArray();
        const there = new Set(known.map(({ reference }) => reference));
        const gone = own.filter(({ reference }) => !there.has(reference));
        for (const { _id: id } of await archive[gateway].lost(gone))
          findings.report(rules[gateway], id, `is of no payment among the ${gateway}`);
      }
    },
    payments: async (onRead) => {
      for (const gateway of ['payouts', 'collections'] as const) {
        // The collection of payouts also holds the references that batches reserve, which have no status and no money
        // (ADR 14).
        const all = paymentsOf(gateway).find(
          { status: { $exists: true } },
          { session, projection, batchSize: RECORDS_PER_READ },
        );
        const suspectsOf = async (payments: readonly PaymentRecord[]) => {
          for (const payment of payments) checkMoney(findings, payment.reference, payment);
          const found = await disagreements(gateway, payments);
          onRead(payments.length);
          return found;
        };
        await recheckAll(all, suspectsOf, again(gateway), deps);
        await archive[gateway].compare();
      }
    },
    archived: () => archive.payouts.count() + archive.collections.count(),
  };
}

async function checkPayouts(ledger: Db, session: ClientSession, payouts: readonly PaymentRecord[]) {
  const references = payouts.map(({ reference }) => reference);
  const entries = await entriesByReference(ledger, session, references, payoutKinds);
  const refusals = await ledger
    .collection<{ readonly _id: string }>(collections.refusals)
    .find({ _id: { $in: references } }, { session, projection: { _id: 1 } })
    .toArray();
  const refused = new Set(refusals.map(({ _id }) => _id));
  return new Map(
    payouts.map((payout) => {
      const { reference } = payout;
      return [reference, checkPayout(payout, entries.get(reference) ?? new Map(), refused.has(reference))];
    }),
  );
}

async function checkCollections(ledger: Db, session: ClientSession, payins: readonly PaymentRecord[]) {
  const references = payins.map(({ reference }) => reference);
  const entries = await entriesByReference(ledger, session, references, collectionKinds);
  return new Map(
    payins.map((payin) => [
      payin.reference,
      checkCollection(payin, entries.get(payin.reference) ?? new Map()),
    ]),
  );
}

async function entriesByReference(
  ledger: Db,
  session: ClientSession,
  references: readonly string[],
  kinds: readonly string[],
): Promise<ReadonlyMap<string, EntriesByKind>> {
  const ids = references.flatMap((reference) => kinds.map((kind) => `${reference}/${kind}`));
  const postings = await readPostings(ledger, ids, session);
  const byReference = Map.groupBy(postings.values(), ({ _id }) => _id.slice(0, _id.lastIndexOf('/')));
  return new Map(
    [...byReference].map(([reference, own]) => [reference, new Map(own.flatMap(statedEntries))]),
  );
}

const statedEntries = ({ currency, wallet, entries }: PostingRecord) =>
  entries.map(({ kind, amount }) => [kind, { amount, currency, wallet }] as const);
