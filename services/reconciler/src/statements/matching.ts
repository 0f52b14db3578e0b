import { inBatches } from '../batches.ts';
import type { StatementPayment } from '../domain/statement-matching.ts';
import type { RailFee } from '../handlers.ts';
import { createGathering, type Gathering, type GatheringDeps } from '../matching/gathering.ts';
import type { Window, WindowPayment } from '../matching/payments.ts';
import type { Keep } from '../matching/runs.ts';
import {
  paymentRecordId,
  type RecordDocument,
  type StatementDocument,
  type StatementStore,
} from './store.ts';

/** The period whose payments must be in the statement; undefined if nothing defines it. */
export function windowOf({
  rail,
  from,
  to,
  firstAt,
  lastAt,
}: Pick<StatementDocument, 'rail' | 'from' | 'to' | 'firstAt' | 'lastAt'>): Window | undefined {
  const begins = from ?? firstAt;
  const ends = to ?? (lastAt && new Date(lastAt.getTime() + 1));
  return begins && ends && begins < ends ? { from: begins, to: ends, rail } : undefined;
}

/** The dependencies of {@link gatherMissing}. */
export interface MissingDeps {
  readonly statementStore: StatementStore;
  readonly payments: GatheringDeps<StatementDocument, RecordDocument>['payments'];
  readonly railFee: RailFee;
  readonly messaging: GatheringDeps<StatementDocument, RecordDocument>['messaging'];
}

/** Lists the payments that ended in a statement's window, moved money and have no line. */
export function gatherMissing(deps: MissingDeps): Gathering<StatementDocument> {
  const { statementStore: store } = deps;
  return createGathering({
    ...deps,
    store,
    recordsOf: async (statement, payments) => {
      const moved = payments.flatMap((payment) => recordOf(deps, statement, payment) ?? []);
      return withoutLine(store, statement, moved);
    },
    next: 'copies',
  });
}

/** What a payment without a line lacks of one. */
const nameless = { reference: null, railReference: null, fee: null };

function recordOf(
  { railFee }: MissingDeps,
  { _id: run, currency: only, currencies, keepUntil }: StatementDocument,
  document: WindowPayment,
): RecordDocument | undefined {
  const payment = toPayment(document, railFee);
  const { endedAt, status } = document;
  if (!payment || !endedAt || (status !== 'completed' && status !== 'reversed')) return undefined;
  const { reference, kind, amount, currency } = payment;
  if (only === null ? !currencies.includes(currency) : only !== currency) return undefined;
  return {
    _id: paymentRecordId(run, reference),
    run,
    keepUntil,
    result: 'not_on_statement',
    payment: reference,
    difference: -amount,
    row: { ...nameless, kind, amount, currency, status: 'completed', atMs: endedAt.getTime() },
  };
}

/** The records of payments that no line uses, neither of this statement nor of another complete one. */
async function withoutLine(
  { runs, records }: StatementStore,
  { _id }: StatementDocument,
  missing: readonly RecordDocument[],
): Promise<readonly RecordDocument[]> {
  const uses = { $in: missing.flatMap(({ payment }) => payment ?? []) };
  const found = await records
    .find({ uses })
    .project<Pick<RecordDocument, 'uses' | 'run'>>({ _id: 0, uses: 1, run: 1 })
    .toArray();
  const others = { _id: { $in: [...new Set(found.map(({ run }) => run))] }, trial: { $exists: false } };
  const whole = await runs
    .find({ ...others, stage: { $nin: ['receiving', 'dropped'] } })
    .project<Pick<StatementDocument, '_id'>>({ _id: 1 })
    .toArray();
  const counted = new Set([_id, ...whole.map((other) => other._id)]);
  const used = new Set(found.filter(({ run }) => counted.has(run)).map((record) => record.uses));
  return missing.filter(({ payment }) => !used.has(payment));
}

/** Numbers the lines with the same content: without any reference they are as many movements, each with its break. */
export async function numberCopies({ records }: StatementStore, run: string, keep: Keep): Promise<void> {
  const lines = records
    .find({ run, content: { $exists: true } })
    .project<Pick<RecordDocument, '_id' | 'content'>>({ content: 1 })
    .sort({ content: 1, _id: 1 });
  let before: string | undefined;
  let copy = 0;
  for await (const page of inBatches(lines)) {
    await keep();
    const writes = page.flatMap(({ _id, content }) => {
      copy = content === before ? copy + 1 : 1;
      before = content;
      return copy === 1 ? [] : [{ updateOne: { filter: { _id }, update: { $set: { copy } } } }];
    });
    if (writes.length > 0) await records.bulkWrite(writes, { ordered: false });
  }
}

/** A payment as lines are compared with it; undefined while its terms are not known. */
export function toPayment(
  { _id, terms, status, received }: WindowPayment,
  railFee: RailFee,
): StatementPayment | undefined {
  if (!terms) return undefined;
  const { kind, rail, currency } = terms;
  const amount = received ?? terms.amount;
  // If another amount than asked was received, the fee differs too.
  const fee = amount === terms.amount ? terms.railFee : (railFee(rail, kind, amount) ?? terms.railFee);
  return { reference: _id, kind, rail, currency, status, amount, fee };
}
