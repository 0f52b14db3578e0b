import type { Clock, Random } from '@pesewa/kernel';
import { type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';
import {
  isCommitUnknown,
  isRepeatable,
  isWriteConflict,
  markUnanswered,
  transactionOptions,
} from './mongo.ts';

/** Less than the time within which a request is answered, so that no work begins after its caller was answered `91`. */
const RETRY_FOR_MS = 8_000;
const BACKOFF_MS = { first: 5, growth: 1.5, last: 500 } as const;
const MAX_TIME_EXPIRED = 50;

/** What a transaction does after a conflict with another: it retries, or leaves it to its caller. */
export type Conflicts = 'retry' | 'throw';

/** The dependencies of a transaction's retries. */
export interface TransactionDeps {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Runs the work in one transaction, by the rules of the driver's `withTransaction` but for eight seconds instead of two
 * minutes: a transaction known to have left nothing is repeated; of one whose commit had no answer, only the commit is
 * repeated.
 *
 * Throws the last error; if {@link isCommitUnknown} holds for it, the transaction may have committed.
 */
export async function runTransaction<Value>(
  deps: TransactionDeps,
  session: ClientSession,
  conflicts: Conflicts,
  work: () => Promise<Value>,
): Promise<Value> {
  const lastTryMs = deps.clock.nowMs() + RETRY_FOR_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      session.startTransaction(transactionOptions);
      const value = await runOrAbort(session, work);
      await commit(deps, session, lastTryMs);
      return value;
    } catch (error) {
      if (!isRepeatable(error) || (conflicts === 'throw' && isWriteConflict(error))) throw error;
      if (deps.clock.nowMs() >= lastTryMs) throw error;
    }
    await pause(deps, tries);
  }
}

async function runOrAbort<Value>(session: ClientSession, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction();
    throw error;
  }
}

async function commit(deps: TransactionDeps, session: ClientSession, lastTryMs: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      markUnanswered(error);
      const expired = error instanceof Error && 'code' in error && error.code === MAX_TIME_EXPIRED;
      if (!isCommitUnknown(error) || expired || deps.clock.nowMs() >= lastTryMs) throw error;
    }
    await pause(deps, tries);
  }
}

function pause({ clock, random }: TransactionDeps, tries: number): Promise<void> {
  const { first, growth, last } = BACKOFF_MS;
  return clock.sleep(random.fraction() * Math.min(first * growth ** tries, last));
}

/** Changes one document by its id, if its other fields are as expected. */
interface Update {
  readonly q: { readonly _id: string; readonly [field: string]: unknown };
  readonly u: object;
  readonly upsert?: boolean;
}

/** A document was not as expected where it was written: a writer that had not read it first must do so now. */
export class UnexpectedDocumentError extends Error {
  override readonly name = 'UnexpectedDocumentError';
}

interface WriteReply {
  readonly n?: number;
  readonly writeErrors?: readonly Document[];
}

/** Writes to one collection within a session; an empty list writes nothing. */
export function createWriter(db: Db, collection: string) {
  const run = async (command: Document, expected: number, session: ClientSession) => {
    if (expected === 0) return;
    // A raw command does not use the client's own encoding settings.
    const options = { session, ignoreUndefined: true };
    refuseErrors(await db.command({ ...command, ordered: false }, options), expected);
  };
  return {
    /**
     * Inserts with the server's own command, because the driver's bulk API measures every document before it writes it.
     */
    insert: (documents: readonly object[], session: ClientSession) =>
      run({ insert: collection, documents }, documents.length, session),
    /** Rejects with {@link UnexpectedDocumentError} if one of the documents does not match. */
    update: (updates: readonly Update[], session: ClientSession) =>
      run({ update: collection, updates }, updates.length, session),
  };
}

/** A single failed write is reported inside an otherwise successful answer. */
function refuseErrors(reply: WriteReply, expected: number): void {
  const [first] = reply.writeErrors ?? [];
  if (first) throw new MongoServerError(first);
  if (Number(reply.n) !== expected)
    throw new UnexpectedDocumentError('a document to be written is not there, or has changed');
}
