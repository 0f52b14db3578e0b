import type { PaymentKind } from '@pesewa/contracts';
import type { Collection, Db, Document } from 'mongodb';
import type { OwnerRecord } from '../domain/coverage.ts';
import type { RailFee } from '../handlers.ts';

/**
 * The records of one gateway, which are only read: an exception to a database per service (ADR 27).
 *
 * Reads are with majority and without personal data.
 */
export type GatewayRecords = ReturnType<typeof openRecords>;

/** The fields that are read of a payout or a collection. */
interface PaymentRow extends Document {
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly amountReceived?: bigint;
  readonly rail: string;
  readonly status: string;
  readonly step: string;
  readonly acknowledgedByRail?: true;
  readonly acceptedAt: Date;
  readonly attemptedAt?: Date;
  readonly order: { readonly country: string };
}

const STATUSES: Readonly<Record<string, OwnerRecord['status']>> = {
  INITIALIZED: 'open',
  PENDING: 'open',
  COMPLETED: 'completed',
  FAILED: 'failed',
  REVERSED: 'reversed',
};

const FIELDS = {
  _id: 0,
  reference: 1,
  merchantId: 1,
  currency: 1,
  amount: 1,
  amountReceived: 1,
  rail: 1,
  status: 1,
  step: 1,
  acknowledgedByRail: 1,
  acceptedAt: 1,
  attemptedAt: 1,
  'order.country': 1,
} as const;

/** A slower read is given up: one gateway's database must not delay the payments of the other. */
const READ_TIMEOUT_MS = 30_000;
/** A poll that reads this after its call to the rail must still end within its lease. */
const ACCEPTANCE_TIMEOUT_MS = 4_000;

/** The records of both gateways, in the databases of this installation. */
export function openGatewayRecords(database: (name: string) => Db, railFee: RailFee) {
  return [
    openRecords(database('payouts').collection('payouts'), 'payout', railFee),
    openRecords(database('collections').collection('collections'), 'collection', railFee),
  ] as const;
}

function openRecords(collection: Collection<PaymentRow>, kind: PaymentKind, railFee: RailFee) {
  const read = async (references: readonly string[], maxTimeMS = READ_TIMEOUT_MS) => {
    const rows = await collection
      // The references that a batch has reserved have no status.
      .find({ reference: { $in: [...references] }, status: { $exists: true } }, { maxTimeMS })
      .project<PaymentRow>(FIELDS)
      .toArray();
    const records = rows.map((row) => recordOf(row, kind, railFee));
    return new Map(records.map((record) => [record.reference, record]));
  };
  return {
    kind,
    collection,
    find: (references: readonly string[]) => read(references),
    /** When the rail acknowledged a payment, in milliseconds; null if it did not. */
    findTakenOnAtMs: async (reference: string) =>
      (await read([reference], ACCEPTANCE_TIMEOUT_MS)).get(reference)?.takenOnAtMs ?? null,
  };
}

function recordOf(row: PaymentRow, kind: PaymentKind, railFee: RailFee): OwnerRecord {
  const { reference, merchantId, currency, rail, order, acceptedAt, attemptedAt = acceptedAt } = row;
  const amount = row.amountReceived ?? row.amount;
  const status = STATUSES[row.status];
  // To mistake an unknown status for an end would be worse than to find nothing.
  if (status === undefined) throw new RangeError(`a ${kind} has the unknown status ${row.status}`);
  const terms = { kind, rail, merchantId, currency, country: order.country, amount };
  return {
    reference,
    status,
    terms: { ...terms, railFee: railFee(rail, kind, amount) ?? 0n },
    acceptedAt,
    takenOnAtMs: row.acknowledgedByRail ? attemptedAt.getTime() : null,
    awaitsHold: status === 'open' && row.step === 'awaitingHold',
  };
}
