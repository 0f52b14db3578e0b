import type { ClientSession, Db } from 'mongodb';

/** A write that MongoDB refused, with MongoDB's code. */
class WriteRefusedError extends Error {
  override readonly name = 'WriteRefusedError';
  readonly code: unknown;
  constructor(message: string, code: unknown) {
    super(message);
    this.code = code;
  }
}

/**
 * Inserts payouts by the raw command: the driver's insertMany serialises each document twice, once only to measure it.
 */
export async function insertOnce(
  db: Db,
  documents: readonly object[],
  session: ClientSession,
): Promise<void> {
  const command = { insert: 'payouts', documents, ordered: true };
  const reply: { readonly writeErrors?: readonly { readonly code: unknown }[] } = await db.command(command, {
    session,
    ignoreUndefined: true,
  });
  const [refused] = reply.writeErrors ?? [];
  if (refused) throw new WriteRefusedError('a payout was not inserted', refused.code);
}
