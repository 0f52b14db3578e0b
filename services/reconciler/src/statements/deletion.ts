import { commitEach } from '../batches.ts';
import type { Keep } from '../matching/store.ts';
import type { StatementDeps } from './deps.ts';
import type { StatementDocument } from './store.ts';

/** A statement whose records are deleted, as far as it must stay as it is until they are. */
export type Held = Pick<StatementDocument, '_id'> & Partial<Pick<StatementDocument, 'claim' | 'stage'>>;

const DELETED_AT_ONCE = 2_000;

/**
 * Builds what deletes the records of a statement in pages; false if the statement is not as given any more.
 *
 * A later upload stores lines under the same ids. A page is judged, read and deleted on one snapshot, where either the
 * statement is another's or none of its lines is there; a record that was deleted since is a conflict.
 */
export function createDeletion({
  messaging,
  statementStore: { runs, records },
}: Pick<StatementDeps, 'messaging' | 'statementStore'>) {
  const deletePage = commitEach(messaging, 'reconciler.statement', async (held: Held, { session }) => {
    if (!(await runs.findOne(held, { session }))) return null;
    const ids = { projection: { _id: 1 }, limit: DELETED_AT_ONCE, session } as const;
    const page = await records.find({ run: held._id }, ids).toArray();
    if (page.length > 0) await records.deleteMany({ _id: { $in: page.map(({ _id }) => _id) } }, { session });
    return page.length;
  });
  return async (held: Held, keep: Keep = async () => {}): Promise<boolean> => {
    for (;;) {
      await keep();
      const deleted = await deletePage(held);
      if (deleted === null || deleted === 0) return deleted === 0;
    }
  };
}
