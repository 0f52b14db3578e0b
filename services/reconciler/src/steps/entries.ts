import { type BreakStore, breakId } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import type { WorkingStore } from '../store.ts';
import { toEntries, toOwners } from './hops.ts';
import type { StepWatch } from './watches.ts';

/**
 * The payments that the books have told, whose owners go on being asked until the ledger bears them out (ADR 42), or an order
 * has corrected what it lacks. The books look for them, so there is nothing to look for here.
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
      // Nothing is looked for.
    },
    standing: async (steps) => {
      const payments = await store.load(steps.map(({ reference }) => reference));
      const lacking = steps.flatMap((step) => {
        const tracked = payments.get(step.reference);
        const finding = tracked && judgeBooks(tracked);
        return finding ? [{ step, id: breakId(step.reference, finding.kind) }] : [];
      });
      const told = await breaks.findAll(lacking.map(({ id }) => id));
      const resolved = new Set(told.filter(({ status }) => status === 'resolved').map(({ _id }) => _id));
      return lacking.filter(({ id }) => !resolved.has(id)).map(({ step }) => step);
    },
  };
}
