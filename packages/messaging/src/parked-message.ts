import {
  accept,
  judgeDecision,
  type ProposalRefusal,
  proposalExpiryMs,
  type Result,
  refuse,
} from '@pesewa/kernel';

/** Every state of a parked message; it leaves the first one once. */
export const parkedStates = ['parked', 'replayed', 'discarded'] as const;

/** One of {@link parkedStates}. */
export type ParkedState = (typeof parkedStates)[number];

/** What a message is read from again. */
export interface KeptMessage {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the message had none. */
  readonly value: Uint8Array | null;
}

/** A message that its consumer could not apply and put aside, and what became of it (ADR 39). */
export interface ParkedMessage {
  /** `<group>/<topic>/<partition>/<offset>` */
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: string;
  readonly eventType: string;
  /** Empty where the message could not be read: then a discard is of this message alone, and of no event. */
  readonly eventId: string;
  /** Why it could not be applied; it names no values of the message. */
  readonly reason: string;
  readonly valueBytes: number;
  readonly parkedAt: Date;
  readonly state: ParkedState;
  /** The last replay; one without a failure took effect. */
  readonly lastReplay?: Replay | undefined;
  /** The last proposal to discard it. */
  readonly discard?: Discard | undefined;
}

/** An operator's replay, and why it did not take effect. */
export interface Replay {
  readonly by: string;
  readonly at: Date;
  readonly failure?: string | undefined;
}

/** An operator's proposal to discard a message, and what another made of it. */
export type Discard = { readonly reason: string; readonly requestedBy: string; readonly at: Date } & (
  | { readonly status: 'proposed' }
  | { readonly status: 'approved' | 'rejected'; readonly decidedBy: string; readonly decidedAt: Date }
);

/** Why a proposal to discard, or a decision about one, changes nothing. */
export type DiscardRefusal = 'parked.closed' | 'discard.open' | 'discard.none' | `discard.${ProposalRefusal}`;

/** Proposes to discard a message; the same proposal again changes nothing, another waits for the first. */
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

/** Decides about the proposal to discard a message: another operator approves it, anyone rejects it (ADR 17). */
export function decideDiscard<Message extends ParkedMessage>(
  message: Message,
  decision: { readonly verdict: 'approve' | 'reject'; readonly by: string; readonly at: Date },
): Result<Message, DiscardRefusal> {
  const { discard } = message;
  if (message.state === 'replayed') return refuse('parked.closed');
  if (!discard) return refuse('discard.none');
  const judged = judgeDecision(discard, decision);
  if (!judged.ok) return refuse(`discard.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept(message);
  const decided = { decidedBy: decision.by, decidedAt: decision.at };
  return accept(
    decision.verdict === 'approve'
      ? { ...message, state: 'discarded', discard: { ...discard, ...decided, status: 'approved' } }
      : { ...message, discard: { ...discard, ...decided, status: 'rejected' } },
  );
}
