import { walletKeyOf } from '@pesewa/contracts';
import { type BatchState, type Folded, openBatchState, type Snapshot } from './books.ts';
import { eventTypeOf, type Instruction, type LedgerDomainEvent, postingId } from './instructions.ts';
import { insufficientFunds, type Outcome } from './outcomes.ts';
import { type AnsweredInstruction, hasAllFields } from './own-events.ts';
import { postInstruction } from './posting.ts';

/** The result of booking published postings again. */
export interface Repeated {
  readonly folded: Folded;
  /** The outcome of each posting, in order. */
  readonly outcomes: readonly Outcome[];
  /** Names of postings whose result differs from what was published, apart from the wallet's number. */
  readonly differing: readonly string[];
  /** How far the number of each booked wallet is from the published one. */
  readonly shifts: ReadonlyMap<string, bigint>;
}

/** Books published postings again, in the order in which they were published; what is booked already stays. */
export function rebookPostings(snapshot: Snapshot, postings: readonly AnsweredInstruction[]): Repeated {
  const books = openBatchState(snapshot);
  const differing: string[] = [];
  const shifts = new Map<string, bigint>();
  const outcomes = postings.map((answered) => {
    const instruction = complete(books, answered.instruction);
    // The setting may have changed; the event shows its value then.
    const refundFee = 'fee' in answered.event.payload && answered.event.payload.fee > 0n;
    const outcome = postInstruction(books, instruction, { refundFee });
    if (outcome.kind === 'alreadyApplied') return outcome;
    if (
      outcome.kind !== 'posted' ||
      !hasAllFields(answered.event) ||
      !isSameEvent(outcome.domainEvent, answered)
    ) {
      differing.push(postingId(instruction));
      return outcome;
    }
    // Of a posting that leaves its wallet as it was, the number says nothing.
    if ('merchantId' in instruction && outcome.domainEvent.sequence > 0n) {
      const walletKey = walletKeyOf(instruction.merchantId, instruction.currency);
      shifts.set(walletKey, outcome.domainEvent.sequence - answered.event.version);
    }
    return outcome;
  });
  return { folded: books.close(), outcomes, differing, shifts };
}

/** The events of a release and a refund have one sum; the hold shows its parts. */
function complete(books: BatchState, instruction: Instruction): Instruction {
  if (instruction.kind !== 'release' && instruction.kind !== 'refund') return instruction;
  const found = books.holdOf(instruction.reference);
  return found ? { ...instruction, amount: found.amount, fee: found.fee } : instruction;
}

const envelope: ReadonlySet<string> = new Set(['eventId', 'occurredAt']);

/** Whether the result is what was published, apart from its number. */
function isSameEvent(domainEvent: LedgerDomainEvent, { event }: AnsweredInstruction): boolean {
  // A refused hold has every field of a placed one.
  if (event.type !== eventTypeOf(domainEvent)) return false;
  const now: Readonly<Record<string, unknown>> = { ...domainEvent };
  return Object.entries(event.payload).every(([name, value]) => envelope.has(name) || now[name] === value);
}

/** Stores again the refusals that the ledger published. */
export function rebookRefusals(snapshot: Snapshot, refused: readonly AnsweredInstruction[]): Folded {
  const books = openBatchState(snapshot);
  for (const { instruction, event } of refused) {
    const { kind } = instruction;
    if (kind !== 'hold' && kind !== 'fund' && kind !== 'withdraw' && kind !== 'adjust') continue;
    if (books.known(instruction)) continue;
    const { merchantId, currency, amount } = instruction;
    const stated = 'reason' in event.payload ? event.payload.reason : null;
    books.refuse({
      id: postingId(instruction),
      merchantId,
      currency,
      amount,
      ...(kind === 'hold' && { fee: instruction.fee, rail: instruction.rail }),
      reason: stated ?? insufficientFunds,
      causationId: event.causationId,
      sequence: event.version,
    });
  }
  return books.close();
}
