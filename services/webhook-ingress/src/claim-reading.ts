import { type Rail, type RailCapabilities, type ReadCallback, readRailText } from '@pesewa/rails';
import {
  type CallbackRequest,
  type Claim,
  headerOf,
  isOwnReference,
  type RejectionReason,
} from './domain/callback.ts';

/** The parts of a rail that the ingress needs. */
export interface CallbackRail extends Pick<Rail, 'verifyCallback'> {
  readonly capabilities: Pick<RailCapabilities, 'callbacks'>;
  readonly payouts?: { readonly readCallback: ReadCallback } | undefined;
  readonly collections?: { readonly readCallback: ReadCallback } | undefined;
}

/** The result of reading a body; `broken` is a defect of ours and says nothing about the callback. */
export type ClaimReading =
  | { readonly kind: 'read'; readonly claim: Claim }
  | {
      readonly kind: 'rejected';
      readonly reason: Extract<RejectionReason, 'body.malformed' | 'reference.foreign'>;
    }
  | { readonly kind: 'broken'; readonly error: unknown };

/** Reads a callback's claim by its rail's own reader; never throws. */
export function readClaim(
  read: ReadCallback,
  { kind, body, headers }: Pick<CallbackRequest, 'kind' | 'body' | 'headers'>,
): ClaimReading {
  try {
    const claimed = read(readRailText(body, headerOf({ headers }, 'content-type')));
    if (!claimed.ok) return { kind: 'rejected', reason: 'body.malformed' };
    return isOwnReference(kind, claimed.value)
      ? { kind: 'read', claim: claimed.value }
      : { kind: 'rejected', reason: 'reference.foreign' };
  } catch (error) {
    return { kind: 'broken', error };
  }
}

/** Where something failed, for logs; without the error's message, which may quote the body. */
export function stackLineOf(error: unknown): { readonly name: string; readonly frames: readonly string[] } {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
  return { name: error.name, frames };
}
