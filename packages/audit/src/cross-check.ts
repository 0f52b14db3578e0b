import type { Clock } from '@pesewa/kernel';
import type { ClientSession, Db } from 'mongodb';
import type { Findings } from './findings.ts';
import type { Batch } from './pages.ts';
import {
  collectionKinds,
  type Disagreement,
  type EntriesByKind,
  judgeCollection,
  judgeMoney,
  judgePayout,
  payoutKinds,
} from './payments.ts';
import type { EntryRecord, PaymentRecord } from './records.ts';
import { collections } from './snapshot.ts';

/** The databases that a cross check reads. */
export interface Databases {
  readonly ledger: Db;
  readonly payouts: Db;
  readonly collections: Db;
}

/** Compares the gateways' records with the books, both ways (L5, L10, L11). */
export interface CrossCheck {
  /** Whether what these entries hold or credit is a payment at all. */
  readonly entries: (batch: Batch) => Promise<void>;
  /** All payments of both gateways; `onRead` hears how many were read. */
  readonly payments: (onRead: (count: number) => void) => Promise<void>;
}

type Gateway = 'payouts' | 'collections';

const PAYMENTS_PER_READ = 1_000;
const SUSPECTS_MAX = 5_000;
const PAUSE_MS = 250;

const projection = {
  _id: 0,
  reference: 1,
  merchantId: 1,
  currency: 1,
  amount: 1,
  fee: 1,
  status: 1,
  step: 1,
} as const;

/** The kind of entry that no payment of a gateway is without, and the rule that says so. */
const owners = { hold: ['payouts', 'L5'], collect: ['collections', 'L11'] } as const;

/**
 * Builds a {@link CrossCheck}. The ledger follows the gateways by events: a payment that disagrees with its entries is
 * asked again, and counts once none of those in doubt was settled for `settleMs`.
 */
export function createCrossCheck(deps: {
  readonly databases: Databases;
  readonly session: ClientSession;
  readonly findings: Findings;
  readonly clock: Clock;
  readonly settleMs: number;
}): CrossCheck {
  const { databases, session, findings, clock } = deps;
  const paymentsOf = (gateway: Gateway) => databases[gateway].collection<PaymentRecord>(gateway);
  const judgeAll = { payouts: judgePayouts, collections: judgeCollections } as const;

  /** The payments of a batch that disagree with their entries, which are read after them and so not older. */
  async function disagreements(gateway: Gateway, payments: readonly PaymentRecord[]) {
    const judged = await judgeAll[gateway](databases.ledger, session, payments);
    return new Map([...judged].filter(([, told]) => told.length > 0));
  }

  async function settle(gateway: Gateway, found: Map<string, readonly Disagreement[]>): Promise<void> {
    let suspects = found;
    let patientUntilMs = clock.nowMs() + deps.settleMs;
    while (suspects.size > 0 && clock.nowMs() < patientUntilMs) {
      await clock.sleep(PAUSE_MS);
      const references = [...suspects.keys()];
      const filter = { reference: { $in: references } };
      const again = await paymentsOf(gateway).find(filter, { session, projection }).toArray();
      const left = await disagreements(gateway, again);
      if (left.size < suspects.size) patientUntilMs = clock.nowMs() + deps.settleMs;
      suspects = left;
    }
    for (const [reference, told] of suspects) {
      for (const [invariant, message] of told) findings.report(invariant, reference, message);
    }
  }

  return {
    entries: async (batch) => {
      for (const [kind, [gateway, invariant]] of Object.entries(owners)) {
        const references = batch.flatMap(({ entries }) =>
          entries.flatMap((entry) => (entry?.kind === kind ? [entry.reference] : [])),
        );
        if (references.length === 0) continue;
        const known = await paymentsOf(gateway)
          .find({ reference: { $in: references } }, { session, projection: { _id: 0, reference: 1 } })
          .toArray();
        const there = new Set(known.map(({ reference }) => reference));
        for (const reference of references) {
          if (!there.has(reference)) {
            findings.report(invariant, `${reference}/${kind}`, `is of no payment among the ${gateway}`);
          }
        }
      }
    },
    payments: async (onRead) => {
      for (const gateway of ['payouts', 'collections'] as const) {
        let suspects = new Map<string, readonly Disagreement[]>();
        // Among the payouts stand the references that batches reserve; they have no status and no money (ADR 14).
        const all = paymentsOf(gateway).find(
          { status: { $exists: true } },
          { session, projection, batchSize: PAYMENTS_PER_READ },
        );
        for await (const payments of chunksOf(all, PAYMENTS_PER_READ)) {
          for (const payment of payments) judgeMoney(findings, payment.reference, payment);
          for (const [reference, told] of await disagreements(gateway, payments))
            suspects.set(reference, told);
          onRead(payments.length);
          if (suspects.size < SUSPECTS_MAX) continue;
          await settle(gateway, suspects);
          suspects = new Map();
        }
        await settle(gateway, suspects);
      }
    },
  };
}

async function judgePayouts(ledger: Db, session: ClientSession, payouts: readonly PaymentRecord[]) {
  const references = payouts.map(({ reference }) => reference);
  const entries = await readEntries(ledger, session, references, payoutKinds);
  const refusals = await ledger
    .collection<{ readonly _id: string }>(collections.refusals)
    .find({ _id: { $in: references } }, { session, projection: { _id: 1 } })
    .toArray();
  const refused = new Set(refusals.map(({ _id }) => _id));
  return new Map(
    payouts.map((payout) => {
      const { reference } = payout;
      return [reference, judgePayout(payout, entries.get(reference) ?? new Map(), refused.has(reference))];
    }),
  );
}

async function judgeCollections(ledger: Db, session: ClientSession, payins: readonly PaymentRecord[]) {
  const references = payins.map(({ reference }) => reference);
  const entries = await readEntries(ledger, session, references, collectionKinds);
  return new Map(
    payins.map((payin) => [
      payin.reference,
      judgeCollection(payin, entries.get(payin.reference) ?? new Map()),
    ]),
  );
}

async function readEntries(
  ledger: Db,
  session: ClientSession,
  references: readonly string[],
  kinds: readonly string[],
): Promise<ReadonlyMap<string, EntriesByKind>> {
  const ids = references.flatMap((reference) => kinds.map((kind) => `${reference}/${kind}`));
  const found = await ledger
    .collection<EntryRecord>(collections.entries)
    .find({ _id: { $in: ids } }, { session, batchSize: ids.length + 1 })
    .toArray();
  const byReference = new Map<string, Map<string, EntryRecord>>();
  for (const entry of found) {
    const [reference = '', kind = ''] = splitId(entry._id);
    const own = byReference.get(reference) ?? new Map<string, EntryRecord>();
    byReference.set(reference, own.set(kind, entry));
  }
  return byReference;
}

function splitId(id: string): readonly string[] {
  const slash = id.lastIndexOf('/');
  return [id.slice(0, slash), id.slice(slash + 1)];
}

async function* chunksOf<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<readonly Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
