import {
  type BatchTransaction,
  type Database,
  ensureDatabaseSchema,
  isDuplicateKey,
  type OutgoingEvent,
} from '@pesewa/messaging';
import { ledgerDatabaseSchema } from './database-schema.ts';
import type { Instruction } from './domain/instructions.ts';
import { createPostings } from './postings.ts';
import { openLedgerStore } from './store.ts';

/** The results of a batch in addition to its writes. */
export interface Applied {
  readonly events: readonly OutgoingEvent[];
  readonly parked: readonly string[];
}

/** A ledger without topics: each batch is handed over directly and committed in its own transaction. */
export interface BatchLedger {
  readonly apply: (
    instructions: readonly Instruction[],
    from?: { readonly topic?: string; readonly partition?: number; readonly fail?: () => void },
  ) => Promise<Applied>;
}

/** Opens one more process of the ledger over a database, with the test's clock. */
export async function openBatchLedger(
  { client, db }: Database,
  nowMs: () => number,
  policy = { refundFee: false },
): Promise<BatchLedger> {
  const clock = { nowMs, sleep: () => Promise.resolve() };
  await ensureDatabaseSchema(db, ledgerDatabaseSchema);
  const store = openLedgerStore(db);
  const postings = createPostings({ store, clock, policy });
  return {
    apply: async (instructions, { topic = 'payouts', partition = 0, fail } = {}) => {
      let emitted: OutgoingEvent[] = [];
      let parked: string[] = [];
      let actions: (() => void)[] = [];
      const run = (isRetry: boolean) =>
        client.withSession((session) =>
          session.withTransaction(
            async () => {
              emitted = [];
              parked = [];
              actions = [];
              const transaction: BatchTransaction = {
                session,
                partition,
                emit: (event) => void emitted.push(event),
                park: (_index, reason) => void parked.push(reason),
                afterCommit: (action) => void actions.push(action),
                afterRollback: () => undefined,
                isRetry,
              };
              await postings.post(instructions, topic, transaction);
              fail?.();
            },
            {
              readConcern: { level: 'snapshot' },
              writeConcern: { w: 'majority', journal: true },
              readPreference: 'primary',
            },
          ),
        );
      // Like the consumer does.
      await run(false).catch((error: unknown) =>
        isDuplicateKey(error) ? run(true) : Promise.reject(error as Error),
      );
      for (const action of actions) action();
      return { events: emitted, parked };
    },
  };
}
