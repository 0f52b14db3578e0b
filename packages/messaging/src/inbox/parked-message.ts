import type { ParkedView } from '@pesewa/contracts';
import {
  accept,
  checkDecision,
  type ProposalRefusal,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';

/** The state of a parked message; it leaves the first one for good. */
export type ParkedState = ParkedView['state'];

/** What is kept of a message in order to read it again. */
export interface MessageContent {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the message had none. */
  readonly value: Uint8Array | null;
}

/** A message that its consumer could not apply and put aside, and what happened to it since (ADR 8). */
export interface ParkedMessage {
  /** `<group>/<topic>/<partition>/<offset>` */
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  readonly eventType: string;
  /** Empty if the message could not be read: then discarding it discards this message alone and no event. */
  readonly eventId: string;
  /** Why it could not be applied; without values from the message. */
  readonly reason: string;
  readonly valueBytes: number;
  readonly parkedAt: Date;
  readonly state: ParkedState;
  /** The last replay; if it has no failure, it took effect. */
  readonly lastReplay?: Replay | undefined;
  /** The last proposal to discard it. */
  readonly discard?: Discard | undefined;
}

/** An operator's replay, and why it failed if it did. */
export interface Replay {
  readonly by: string;
  readonly at: Date;
  readonly failure?: string | undefined;
}

/** An operator's proposal to discard a message, and another operator's decision about it. */
export type Discard = { readonly reason: string; readonly requestedBy: string; readonly at: Date } & (
  | { readonly status: 'proposed' }
  | { readonly status: 'approved'; readonly decidedBy: string; readonly decidedAt: Date }
  | {
      readonly status: 'rejected';
      readonly decidedBy: string;
      readonly decidedAt: Date;
      readonly rejectedFor?: string;
    }
);

/** A decision about the proposal that was made at `requestedAt`, so that no other one is decided. */
export type DiscardDecision = { readonly requestedAt: Date; readonly by: string } & (
  | { readonly verdict: 'approve' }
  | { readonly verdict: 'reject'; readonly reason: string }
);

/** Why a proposal to discard, or a decision about one, is refused. */
export type DiscardRefusal =
  | 'parked.closed'
  | 'discard.open'
  | 'discard.none'
  | 'discard.changed'
  | `discard.${ProposalRefusal}`;

/**
 * Proposes to discard a message. The same proposal again changes nothing; a different one is refused while the first is
 * open.
 */
export function proposeDiscard<Message extends ParkedMessage>(
  message: Message,
  proposal: { readonly reason: string; readonly by: string; readonly at: Date },
): Result<Message, DiscardRefusal> {
  if (message.state !== 'parked') return refuse('parked.closed');
  const { discard } = message;
  const { reason, by: requestedBy, at } = proposal;
  if (discard?.status === 'proposed' && at.getTime() < proposalExpiryMs(discard)) {
    const isSame = discard.requestedBy === requestedBy && discard.reason === reason;
    return isSame ? accept(message) : refuse('discard.open');
  }
  return accept({ ...message, discard: { reason, requestedBy, at, status: 'proposed' } });
}

/** Decides about the proposal to discard a message: another operator may approve it, anyone may reject it (ADR 17). */
export function decideDiscard<Message extends ParkedMessage>(
  message: Message,
  decision: DiscardDecision & { readonly at: Date },
): Result<Message, DiscardRefusal> {
  const { discard } = message;
  if (message.state === 'replayed') return refuse('parked.closed');
  if (!discard) return refuse('discard.none');
  if (discard.at.getTime() !== decision.requestedAt.getTime()) return refuse('discard.changed');
  const judged = checkDecision(discard, decision);
  if (!judged.ok) return refuse(`discard.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept(message);
  const decided = { ...discard, decidedBy: decision.by, decidedAt: decision.at };
  return accept(
    decision.verdict === 'approve'
      ? { ...message, state: 'discarded', discard: { ...decided, status: 'approved' } }
      : { ...message, discard: { ...decided, status: 'rejected', rejectedFor: decision.reason } },
  );
}
