import { type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';

/** Changes one document by its id, if its other fields are as expected. */
export interface Update {
  readonly q: { readonly _id: string; readonly [field: string]: unknown };
  readonly u: object;
  readonly upsert?: boolean;
}

/** A document was not as expected where it was written: a writer that had not read it first must do so now. */
export class UnexpectedDocumentError extends Error {
  override readonly name = 'UnexpectedDocumentError';
}

/** Writes to one collection within a session; an empty list writes nothing. */
export interface Writer {
  /**
   * Inserts with the server's own command, because the driver's bulk API measures every document before it writes it.
   */
  readonly insert: (documents: readonly object[], session: ClientSession) => Promise<void>;
  /** Rejects with {@link UnexpectedDocumentError} if one of the documents does not match. */
  readonly update: (updates: readonly Update[], session: ClientSession) => Promise<void>;
}

interface WriteReply {
  readonly n?: number;
  readonly writeErrors?: readonly Document[];
}

/** Builds a {@link Writer}. */
export function createWriter(db: Db, collection: string): Writer {
  const run = async (command: Document, expected: number, session: ClientSession) => {
    if (expected === 0) return;
    // A raw command does not use the client's own encoding settings.
    const options = { session, ignoreUndefined: true };
    refuseErrors(await db.command({ ...command, ordered: false }, options), expected);
  };
  return {
    insert: (documents, session) => run({ insert: collection, documents }, documents.length, session),
    update: (updates, session) => run({ update: collection, updates }, updates.length, session),
  };
}

/** A single failed write is reported inside an otherwise successful answer. */
function refuseErrors(reply: WriteReply, expected: number): void {
  const [first] = reply.writeErrors ?? [];
  if (first) throw new MongoServerError(first);
  if (Number(reply.n) !== expected)
    throw new UnexpectedDocumentError('a document to be written is not there, or has changed');
}
