import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import { breakOfKind } from '../domain/observing.ts';
import type { WorkingStore } from '../store.ts';
import { toEntries, toOwners } from './hops.ts';
import type { StepWatch } from './watches.ts';

/**
 * Payments with a break of the books, whose owners are asked until the ledger's entries match, or an order has
 * corrected the difference. The books find them, so nothing is searched here.
 */
export function watchEntries(
  store: Pick<WorkingStore, 'load'>,
  breaks: Pick<BreakStore, 'findAll'>,
): StepWatch {
  return {
    name: 'entry',
    steps: ['entry'],
    hops: [...toOwners, ...toEntries],
    look: async function* () {
      // The books find these steps, so there is nothing to search.
    },
    standing: async (steps) => {
      const payments = await store.load(steps.map(({ reference }) => reference));
      const lacking = steps.flatMap((step) => {
        const tracked = payments.get(step.reference);
        const finding = tracked && judgeBooks(tracked);
        return finding ? [{ step, id: breakOfKind(step.reference, finding.kind) }] : [];
      });
      const found = await breaks.findAll(lacking.map(({ id }) => id));
      const resolved = new Set(found.filter(({ status }) => status === 'resolved').map(({ _id }) => _id));
      return lacking.filter(({ id }) => !resolved.has(id)).map(({ step }) => step);
    },
  };
}
