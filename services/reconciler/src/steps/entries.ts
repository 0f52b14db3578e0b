import type { Collection } from 'mongodb';
import { inPagesBy } from '../batches.ts';
import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import { breakId } from '../domain/observing.ts';
import type { PollDocument } from '../poll-document.ts';
import type { WorkingStore } from '../store.ts';
import { toEntries, toOwners } from './hops.ts';
import type { StepWatch } from './watches.ts';

const WAITING_COUNTED_MAX = 1_000_000;

/**
 * The watch over payments that the ledger's entries do not match a grace time later. A reported one is followed until
 * they match, or an order or a person has resolved its break.
 */
export function watchEntries(
  store: Pick<WorkingStore, 'load' | 'collection'>,
  breaks: Pick<BreakStore, 'findAll'>,
): StepWatch {
  return {
    name: 'entry',
    steps: ['entry'],
    hops: [...toOwners, ...toEntries],
    // The grace time has passed by then.
    overdueAfterMs: 0,
    look: async function* look(_from, to) {
      const pages = inPagesBy('booksDueAt', '_id', { $lte: to }, (where) =>
        store.collection
          .find(where)
          .project<Pick<PollDocument, '_id' | 'booksDueAt' | 'terms'>>({ booksDueAt: 1, 'terms.kind': 1 }),
      );
      for await (const page of pages) {
        const overdue = page.map(({ _id: reference, terms }) => {
          const kind = terms?.kind ?? (reference.startsWith('co-') ? 'collection' : 'payout');
          return { reference, kind, step: 'entry' } as const;
        });
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

/** How many payments are due to be compared with their entries, and are not yet; counts to a million at most. */
export function countAwaiting(
  polls: Collection<PollDocument>,
  before: Date,
  maxTimeMS: number,
): Promise<number> {
  return polls.countDocuments({ booksDueAt: { $lte: before } }, { limit: WAITING_COUNTED_MAX, maxTimeMS });
}
