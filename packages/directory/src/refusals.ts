import { describeProblem, firstProblem } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { MongoServerError } from 'mongodb';
import type { z } from 'zod';

/** Why a change of the directory was not made; the message is for operators and holds no secret. */
export interface DirectoryRefusal {
  readonly code:
    | 'merchant.malformed'
    | 'merchant.exists'
    | 'merchant.unknown'
    | 'key.malformed'
    | 'key.taken'
    | 'key.changed'
    | 'key.tooMany'
    | 'key.unknown';
  readonly message: string;
}

/** What comes of a change of the directory. */
export type Change<Value = null> = Promise<Result<Value, DirectoryRefusal>>;

/** The unique value that a write violated; undefined for any other error. */
export function duplicateOf(error: unknown): 'id' | 'key' | undefined {
  if (!(error instanceof MongoServerError) || error.code !== 11_000) return undefined;
  const pattern: unknown = error['keyPattern'];
  return typeof pattern === 'object' && pattern !== null && 'keys.hash' in pattern ? 'key' : 'id';
}

/** Accepts a change that found its merchant. */
export function changed(
  merchantId: string,
  result: { readonly matchedCount: number },
): Result<null, DirectoryRefusal> {
  return result.matchedCount > 0 ? accept(null) : unknownMerchant(merchantId);
}

/** Refuses a change. */
export function no(code: DirectoryRefusal['code'], message: string) {
  return refuse<DirectoryRefusal>({ code, message });
}

/** Refuses a change of a merchant that does not exist. */
export function unknownMerchant(merchantId: string) {
  return no('merchant.unknown', `there is no merchant ${merchantId}`);
}

/** Refuses a text that is no public key. */
export function malformedKey() {
  return no('key.malformed', 'a public key has 16 to 128 letters, digits, underscores or hyphens');
}

/** Refuses a key that some merchant has. */
export function keyTaken() {
  return no('key.taken', 'the public key belongs to a merchant already');
}

/** Refuses what the schema of a stored merchant does not accept, naming the first problem. */
export function malformed(error: z.ZodError) {
  return no('merchant.malformed', describeProblem(firstProblem(error)));
}
