import { firstIdAt, type IdPrefix } from '@pesewa/kernel';
import type { ClientSession, Db } from 'mongodb';
import { type Batch, readPostings } from './page-stream.ts';
import {
  checkCollection,
  checkMoney,
  checkPayout,
  collectionKinds,
  type EntriesByKind,
  payoutKinds,
} from './payments.ts';
import { type CheckDeps, RECORDS_PER_READ, recheck, recheckAll } from './recheck.ts';
import { collections, type PaymentRecord, type PostingRecord } from './records.ts';

/** The databases that a cross check reads. */
export interface Databases {
  readonly ledger: Db;
  readonly payouts: Db;
  readonly collections: Db;
}

/** Compares the gateways' records with the books, in both directions (L5, L10, L11). */
export type CrossCheck = ReturnType<typeof createCrossCheck>;

/** The databases that contain payments, each in a collection of the same name. */
type Gateway = 'payouts' | 'collections';

/** How the references of a gateway's payments begin. */
const prefixes: Readonly<Record<Gateway, IdPrefix>> = { payouts: 'po', collections: 'co' };

/** For each gateway, a reference before which all payments are at rest and agree with their entries. */
export type Watermarks = Readonly<Record<Gateway, string>>;

/** Longer than a payment takes from its reference to its record, with all differences of clocks. */
const YOUNG_MS = 600_000;

/** The statuses from which a payment goes on by itself. */
const UNDER_WAY: ReadonlySet<string> = new Set(['INITIALIZED', 'PENDING']);

const kindsOf: Readonly<Record<Gateway, ReadonlySet<string>>> = {
  payouts: new Set(payoutKinds),
  collections: new Set(collectionKinds),
};

/** Sorts behind every reference. */
const LAST = '\uffff';

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
export function createCrossCheck(
  deps: CheckDeps & {
    readonly databases: Databases;
    /** Where an earlier check ended: older payments are compared only if new postings name them. */
    readonly since?: Watermarks | undefined;
  },
) {
  const { databases, session, findings, since } = deps;
  const rest = createRest();
  const paymentsOf = (gateway: Gateway) => databases[gateway].collection<PaymentRecord>(gateway);
  const checkAll = { payouts: checkPayouts, collections: checkCollections } as const;

  /**
   * The payments of a batch that differ from their entries. The entries are read after them and are therefore not
   * older.
   */
  async function disagreements(gateway: Gateway, payments: readonly PaymentRecord[]) {
    const judged = await checkAll[gateway](databases.ledger, session, payments);
    return new Map([...judged].filter(([, disagreements]) => disagreements.length > 0));
  }

  const again = (gateway: Gateway) => async (references: readonly string[]) => {
    const filter = { reference: { $in: references } };
    const payments = await paymentsOf(gateway).find(filter, { session, projection }).toArray();
    return disagreements(gateway, payments);
  };

  /** Judges payments that were at rest, and that new postings name. */
  async function judgeOld(pages: Batch['pages'], marks: Watermarks): Promise<void> {
    for (const gateway of ['payouts', 'collections'] as const) {
      const old = postingsOn(pages).filter(
        ({ kind, reference }) => kindsOf[gateway].has(kind) && reference < marks[gateway],
      );
      const references = [...new Set(old.map(({ reference }) => reference))];
      if (references.length > 0) await recheck(await again(gateway)(references), again(gateway), deps);
    }
  }

  return {
    /** Checks that the payments of these postings exist. */
    postings: async ({ pages }: Batch) => {
      for (const gateway of ['payouts', 'collections'] as const) {
        const own = postingsOn(pages).filter(({ kind }) => gateways.get(kind) === gateway);
        if (own.length === 0) continue;
        const references = own.map(({ reference }) => reference);
        const known = await paymentsOf(gateway)
          .find({ reference: { $in: references } }, { session, projection: { _id: 0, reference: 1 } })
          .toArray();
        const there = new Set(known.map(({ reference }) => reference));
        for (const { _id: id, reference } of own)
          if (!there.has(reference))
            findings.report(rules[gateway], id, `is of no payment among the ${gateway}`);
      }
      if (since) await judgeOld(pages, since);
    },
    /** Checks all payments of both gateways; `onRead` gets how many were read so far. */
    payments: async (onRead: (count: number) => void) => {
      for (const gateway of ['payouts', 'collections'] as const) {
        // The collection of payouts also holds the references that batches reserve, which have no status and no money
        // (ADR 14).
        const all = paymentsOf(gateway).find(
          { status: { $exists: true }, ...(since && { reference: { $gte: since[gateway] } }) },
          { session, projection, batchSize: RECORDS_PER_READ },
        );
        const suspectsOf = async (payments: readonly PaymentRecord[]) => {
          for (const payment of payments) checkMoney(findings, payment.reference, payment);
          rest.seen(gateway, payments);
          const found = await disagreements(gateway, payments);
          onRead(payments.length);
          return found;
        };
        await recheckAll(all, suspectsOf, again(gateway), deps);
      }
    },
    /** Up to where the payments that were read are at rest. */
    watermarks: rest.watermarks,
  };
}

/** Finds {@link Watermarks} from the payments that are seen. */
function createRest() {
  const oldestUnderWay = { payouts: LAST, collections: LAST };
  return {
    seen: (gateway: Gateway, payments: readonly PaymentRecord[]): void => {
      for (const { reference, status } of payments)
        if (UNDER_WAY.has(status) && reference < oldestUnderWay[gateway]) oldestUnderWay[gateway] = reference;
    },
    watermarks: (atMs: number): Watermarks => {
      const of = (gateway: Gateway) => {
        const young = firstIdAt(prefixes[gateway], Math.max(0, atMs - YOUNG_MS));
        return young < oldestUnderWay[gateway] ? young : oldestUnderWay[gateway];
      };
      return { payouts: of('payouts'), collections: of('collections') };
    },
  };
}

const postingsOn = (pages: Batch['pages']): readonly PostingRecord[] =>
  pages.flatMap(({ postings }) => postings.filter((posting) => posting !== undefined));

async function checkPayouts(ledger: Db, session: ClientSession, payouts: readonly PaymentRecord[]) {
  const references = payouts.map(({ reference }) => reference);
  const entries = await entriesByReference(ledger, session, references, payoutKinds);
  const refusals = await ledger
    .collection<{ readonly _id: string }>(collections.refusals)
    .find({ _id: { $in: references.map(holdIdOf) } }, { session, projection: { _id: 1 } })
    .toArray();
  const refused = new Set(refusals.map(({ _id }) => _id));
  return new Map(
    payouts.map((payout) => {
      const { reference } = payout;
      return [
        reference,
        checkPayout(payout, entries.get(reference) ?? new Map(), refused.has(holdIdOf(reference))),
      ];
    }),
  );
}

const holdIdOf = (reference: string) => `${reference}/hold`;

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
