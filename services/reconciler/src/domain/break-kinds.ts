/**
 * The subject of a kind of break: a payment, a rail's wallet, an entry of the ledger, a line in a rail's own records,
 * or a service.
 */
export type BreakSubject = 'payment' | 'wallet' | 'entry' | 'line' | 'service';

/**
 * What a person may do about a break of a kind, in addition to assigning and explaining it:
 *
 * - `final`: resolve it; only a new discovery opens it again.
 * - `again`: resolve it; the next run that finds the discrepancy opens it again.
 * - `ended`: resolve it, as `final`, once its payment has ended: until then it shows that the end is unknown.
 * - `decided`: the same, and until then two operators decide the amount (ADR 23).
 */
export type ManualResolution = 'final' | 'again' | 'ended' | 'decided';

/** The fixed properties of a kind of break. */
export interface BreakTerms {
  readonly about: BreakSubject;
  /** When it is opened, for people to read. */
  readonly opens: string;
  /** When it closes by itself, for people to read; null if it waits for them. */
  readonly closes: string | null;
  readonly manualResolution: ManualResolution;
}

/** Every kind of break (ADR 31); `<subject>.<what is wrong>`. */
export const breakKinds = {
  'callback.denied': {
    about: 'payment',
    opens:
      "a callback claims an end that the rail's lookup contradicts, or still denies after the allowed lag",
    closes: null,
    manualResolution: 'final',
  },
  'callback.amount_differs': {
    about: 'payment',
    opens: "a callback claims another amount than the rail itself tells or proves; the rail's word stands",
    closes: null,
    manualResolution: 'final',
  },
  'callback.fee_differs': {
    about: 'payment',
    opens:
      "a callback claims another fee for a collection than the rail's schedule, or a proven one a fee that is none; the fact goes out without it",
    closes: null,
    manualResolution: 'final',
  },
  'callback.unknown_reference': {
    about: 'payment',
    opens: 'a callback speaks of a payment that nobody has opened a grace time later',
    closes: 'its owner or the ledger speaks of it, or it is forgotten',
    manualResolution: 'final',
  },
  'payout.amount_differs': {
    about: 'payment',
    opens: 'the lookup or a proven callback tells another amount than was asked; no fact goes out',
    closes: null,
    manualResolution: 'ended',
  },
  'collection.amount_differs': {
    about: 'payment',
    opens:
      'a callback names another amount or currency than was asked, and the rail says COMPLETED; the collection stays pending until people decide. Or it comes after the end, and names another than it completed with: then a closed one opens again',
    closes:
      'the collection completes with an amount that was approved, or that the callback named; with any other it stays, and so does one that opens after the end',
    manualResolution: 'decided',
  },
  'payout.not_found': {
    about: 'payment',
    opens: 'the rail took the payout on, and its lookup denies it a grace time later; nothing is sent again',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'payout.refused_again': {
    about: 'payment',
    opens:
      'the rail refused an attempt after an unclear one, and its lookup finds neither a grace time later; the hold stays',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'collection.not_found': {
    about: 'payment',
    opens:
      'the rail says NOT FOUND, and has said nothing else that is clear for two grace times: one for the owner to initiate it again, one for the rail to know it; polling goes on',
    closes: 'the collection ends',
    manualResolution: 'ended',
  },
  'payment.contradiction': {
    about: 'payment',
    opens:
      'the rail contradicts an end that our own record has, or itself, or tells one that the payment can not have',
    closes: null,
    manualResolution: 'ended',
  },
  'payment.stuck': {
    about: 'payment',
    opens:
      "many scheduled polls and no end, and no other break but of callbacks; or it can't be asked at all (rail not configured, country not known): polling goes on, at the cap",
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'coverage.missing': {
    about: 'payment',
    opens:
      'the audit finds an open record of a gateway that the working set lacks; it is taken in and polled',
    closes: 'its event comes after all, or the payment ends',
    manualResolution: 'ended',
  },
  'coverage.ended': {
    about: 'payment',
    opens:
      'the audit finds a payment open here that has ended by the record of its gateway; its end is taken over',
    closes: 'the event of that end comes after all',
    manualResolution: 'again',
  },
  'coverage.behind': {
    about: 'payment',
    opens:
      'the audit finds that a gateway has no record of an open payment, or has one open whose end it told',
    closes: 'a later audit finds its record level again, or the payment ends',
    manualResolution: 'again',
  },
  'hold.unanswered': {
    about: 'payment',
    opens:
      'a payout is accepted, and the ledger has not answered whether its money is held, though its gateway has published it again and again',
    closes: 'the answer comes, or the payout ends',
    manualResolution: 'again',
  },
  'payout.unattempted': {
    about: 'payment',
    opens:
      'a payout was accepted long ago, its rail can be asked and does not know it, and no attempt to send it was ever told',
    closes: 'an attempt is told, or the payout ends',
    manualResolution: 'ended',
  },
  'payment.end_untaken': {
    about: 'payment',
    opens:
      'the rail tells an end, and its owner has not taken it after many times the allowed lag, though every poll tells it again',
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'webhook.missing': {
    about: 'payment',
    opens:
      'a payment has ended, and its merchant is owed no webhook for it, though its gateway has published the end again and again',
    closes: 'the webhook is owed',
    manualResolution: 'again',
  },
  'books.unposted': {
    about: 'payment',
    opens:
      'a payment completed, and the ledger has no entry for it a grace time later, nor after its end was published again',
    closes: 'the entry comes',
    manualResolution: 'again',
  },
  'books.posted_wrongly': {
    about: 'payment',
    opens: 'the ledger has an entry that the state of its payment does not bear out',
    closes: 'the state comes to bear it out',
    manualResolution: 'again',
  },
  'books.unreleased': {
    about: 'payment',
    opens:
      'a payout failed, and the ledger has not released its hold a grace time later, nor after its end was published again',
    closes: 'the release comes',
    manualResolution: 'again',
  },
  'books.unexplained_entry': {
    about: 'entry',
    opens: 'the ledger has an entry for a payment that nobody has opened',
    closes: 'the owner speaks of the payment',
    manualResolution: 'final',
  },
  'books.ledger_behind': {
    about: 'service',
    opens:
      'payments wait for their entries, and the ledger has not applied what the gateways had published a grace time ago; one for all of them',
    closes: 'the ledger has applied what the gateways have published',
    manualResolution: 'again',
  },
  'wallet.drift': {
    about: 'wallet',
    opens: "a rail's wallet is out of the range that payments in flight explain",
    closes: 'the wallet is back in range',
    manualResolution: 'again',
  },
  'close.differs': {
    about: 'payment',
    opens:
      'the daily close finds that the rail tells another status, amount or fee of an ended payment than we have, and no other open break tells it; nothing moves until people have asked the rail which is right, and corrected it by an order to the ledger',
    closes: 'a later close finds both the same',
    manualResolution: 'again',
  },
  'close.missing_there': {
    about: 'payment',
    opens:
      'the daily close asks for a payment that ended here, and the rail does not know it; no other open break tells its status',
    closes: 'a later close finds it',
    manualResolution: 'again',
  },
  'statement.differs': {
    about: 'payment',
    opens: "a line of the rail's statement differs from our payment in status, amount, fee or currency",
    closes: 'a later statement has the payment as we have it',
    manualResolution: 'again',
  },
  'statement.missing_here': {
    about: 'line',
    opens: "a line of the rail's statement matches no payment of ours",
    closes: 'a later statement has the line, and we have its payment',
    manualResolution: 'again',
  },
  'statement.missing_there': {
    about: 'payment',
    opens: "a payment that ended in the statement's window has no line in it",
    closes: 'a later statement has a line for it',
    manualResolution: 'again',
  },
} as const satisfies Record<string, BreakTerms>;

/** A kind of break. */
export type BreakKind = keyof typeof breakKinds;

/** Whether a text is a kind of break. */
export function isBreakKind(kind: string): kind is BreakKind {
  return Object.hasOwn(breakKinds, kind);
}

/** The properties of a kind; undefined if there is no such kind. */
export function termsOfBreak(kind: string): BreakTerms | undefined {
  return isBreakKind(kind) ? breakKinds[kind] : undefined;
}
