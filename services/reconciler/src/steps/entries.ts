import type { PaymentKind } from '@pesewa/contracts';
import { inPagesBy } from '../batches.ts';
import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import { breakId } from '../domain/observing.ts';
import type { PollDocument } from '../poll-document.ts';
import type { WorkingStore } from '../store.ts';
import { toEntries } from './hops.ts';
import type { StepStore } from './store.ts';
import type { StepWatch } from './watches.ts';

const WAITING_COUNTED_MAX = 1_000_000;

/** The references of each kind: an entry of an unknown payment has nothing else of it. */
const REFERENCES = {
  payout: { $not: /^co-/ },
  collection: /^co-/,
} as const satisfies Record<PaymentKind, unknown>;

/**
 * The watch over payments of a kind that the ledger's entries do not match a grace time later. A reported one is
 * followed until they match, or an order or a person has resolved its break.
 *
 * @param limitMs how long the ledger takes to answer a request: its grace time
 */
export function watchEntries(
  kind: PaymentKind,
  store: Pick<WorkingStore, 'load' | 'collection'>,
  breaks: Pick<BreakStore, 'findAll'>,
  limitMs: number,
): StepWatch {
  return {
    name: `entry of a ${kind}`,
    steps: ['entry'],
    kind,
    hops: toEntries[kind],
    // The grace time has passed by then.
    overdueAfterMs: 0,
    limitMs,
    look: async function* look(_from, to) {
      const pages = inPagesBy('booksDueAt', '_id', { $lte: to }, (where) =>
        store.collection
          .find({ $and: [where, { _id: REFERENCES[kind] }] })
          .project<Pick<PollDocument, '_id' | 'booksDueAt'>>({ booksDueAt: 1 }),
      );
      for await (const page of pages) {
        const overdue = page.map(({ _id: reference }) => ({ reference, kind, step: 'entry' }) as const);
        yield { overdue, until: page.at(-1)?.booksDueAt ?? to };
      }
    },
    standing: async (steps) => {
      const payments = await store.load(steps.map(({ reference }) => reference));
      const lacking = steps.filter(({ reference }) => {
        const tracked = payments.get(reference);
        return tracked && judgeBooks(tracked) !== undefined;
      });
      const reported = lacking.filter(({ isReported }) => isReported);
      const found = await breaks.findAll(reported.map(({ reference }) => breakId(reference, 'entry')));
      const over = new Set(found.filter(({ status }) => status === 'resolved').map(({ _id }) => _id));
      return lacking.filter(
        ({ reference, isReported }) => !isReported || !over.has(breakId(reference, 'entry')),
      );
    },
  };
}

/**
 * How many payments are due to be compared with their entries, for the first time or again, and are not yet; counts to
 * a million of each at most.
 */
export async function countAwaiting(
  { collection }: Pick<WorkingStore, 'collection'>,
  { countDue }: Pick<StepStore, 'countDue'>,
  before: Date,
  maxTimeMS: number,
): Promise<number> {
  const options = { limit: WAITING_COUNTED_MAX, maxTimeMS };
  const [first, again] = await Promise.all([
    collection.countDocuments({ booksDueAt: { $lte: before } }, options),
    countDue('entry', before, options),
  ]);
  return first + again;
}
