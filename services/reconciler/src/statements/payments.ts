import type { Collection } from 'mongodb';
import { inBatches } from '../batches.ts';
import type { StatementPayment } from '../domain/statement-matching.ts';
import type { RailFee } from '../handlers.ts';
import type { PollDocument } from '../poll-document.ts';

/** A payment, and when it ended. */
export interface EndedPayment extends StatementPayment {
  readonly endedAt: Date;
}

/** The payments of the working set, as statements are compared with them. */
export interface StatementPayments {
  readonly find: (references: readonly string[]) => Promise<ReadonlyMap<string, StatementPayment>>;
  /** Those that moved money at a rail and ended in a period, sorted by their ends, in pages. */
  readonly endedIn: (query: {
    readonly rail: string;
    readonly currency: string;
    readonly from: Date;
    readonly to: Date;
  }) => AsyncIterable<readonly EndedPayment[]>;
}

const PAGE = 1_000;
const FIELDS = { terms: 1, status: 1, received: 1, endedAt: 1 } as const;

type Projected = Pick<PollDocument, '_id' | 'terms' | 'status' | 'received' | 'endedAt'>;

/** Builds {@link StatementPayments}. */
export function createStatementPayments(
  polls: Collection<PollDocument>,
  railFee: RailFee,
): StatementPayments {
  return {
    find: async (references) => {
      if (references.length === 0) return new Map();
      const found = await polls
        .find({ _id: { $in: [...new Set(references)] }, terms: { $exists: true } })
        .project<Projected>(FIELDS)
        .toArray();
      return new Map(found.flatMap((document) => toPayment(document, railFee) ?? []).map(byReference));
    },
    endedIn: async function* ({ rail, currency, from, to }) {
      const cursor = polls
        .find({
          endedAt: { $gte: from, $lt: to },
          'terms.rail': rail,
          'terms.currency': currency,
          status: { $in: ['completed', 'reversed'] },
        })
        .project<Projected>(FIELDS)
        .sort({ endedAt: 1 })
        .batchSize(PAGE);
      for await (const page of inBatches(cursor, PAGE)) {
        yield page.flatMap((document): readonly EndedPayment[] => {
          const payment = toPayment(document, railFee);
          return payment && document.endedAt ? [{ ...payment, endedAt: document.endedAt }] : [];
        });
      }
    },
  };
}

function byReference(payment: StatementPayment): readonly [string, StatementPayment] {
  return [payment.reference, payment];
}

function toPayment(
  { _id, terms, status, received }: Projected,
  railFee: RailFee,
): StatementPayment | undefined {
  if (!terms) return undefined;
  const { kind, rail, currency } = terms;
  const amount = received ?? terms.amount;
  // If another amount than asked was received, the fee differs too.
  const fee = amount === terms.amount ? terms.railFee : (railFee(rail, kind, amount) ?? terms.railFee);
  return { reference: _id, kind, rail, currency, status, amount, fee };
}
