/**
 * What a break is about (ADR 70): a field of a payment, `existence` if only one side has the payment at all, or the
 * balance of a wallet, or the position of a service.
 */
export type Field =
  | 'status'
  | 'amount'
  | 'fee'
  | 'currency'
  | 'existence'
  | 'entry'
  | 'webhook'
  | 'balance'
  | 'position';

/** Who says of a field other than we have; a callback counts as the rail's own word only if it is proven. */
export type Observer = 'poll' | 'callback' | 'provenCallback' | 'close' | 'statement' | 'audit' | 'books';

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
  /** The field, unless a finding names another. */
  readonly field: Field;
  /** When it is opened, for people to read. */
  readonly opens: string;
  /** When it closes by itself, for people to read; null if it waits for them. */
  readonly closes: string | null;
  readonly manualResolution: ManualResolution;
}

/** Every kind of break (ADR 70); `<subject>.<what is wrong>`. */
export const breakKinds = {
  'callback.denied': {
    field: 'status',
    opens:
      "a callback claims an end that the rail's lookup contradicts, or still denies after the allowed lag",
    closes: 'the payment ends as every callback has claimed',
    manualResolution: 'final',
  },
  'callback.amount_differs': {
    field: 'amount',
    opens:
      "a callback claims another amount than the rail's lookup or a proven callback reports; the rail's amount counts",
    closes: null,
    manualResolution: 'final',
  },
  'callback.fee_differs': {
    field: 'fee',
    opens:
      "a callback claims another fee for a collection than the rail's schedule, or a proven one claims a fee that the payment cannot have cost; the fact is published without it",
    closes: null,
    manualResolution: 'final',
  },
  'callback.unknown_reference': {
    field: 'existence',
    opens: 'a callback names a payment that is still unknown a grace time later',
    closes: 'an event of its owner or of the ledger names it, or it is forgotten',
    manualResolution: 'final',
  },
  'payout.amount_differs': {
    field: 'amount',
    opens: 'the lookup or a proven callback reports another amount than was requested; no fact is published',
    closes: 'the lookup reports the amount that was requested',
    manualResolution: 'ended',
  },
  'collection.amount_differs': {
    field: 'amount',
    opens:
      'a callback claims another amount or currency than was requested, and the rail reports COMPLETED; the collection stays pending until two operators decide. Or a callback after the end claims another amount than the collection completed with; then a closed break opens again',
    closes:
      'the collection completes with an approved amount or with the one that the callback claimed; with any other amount the break stays, and so does one that opens after the end',
    manualResolution: 'decided',
  },
  'payout.not_found': {
    field: 'status',
    opens:
      'the rail accepted the payout, and after the grace time its lookup does not find it; nothing is sent again',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'payout.refused_again': {
    field: 'status',
    opens:
      'the rail refused an attempt after an unclear one, and after the grace time its lookup finds neither; the hold stays',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'collection.not_found': {
    field: 'status',
    opens:
      'every poll is answered NOT FOUND for two grace times: one for the owner to initiate it again, one for the rail to register it; polling continues',
    closes: 'the lookup knows the collection, or the collection ends',
    manualResolution: 'ended',
  },
  'payment.contradiction': {
    field: 'status',
    opens:
      'the rail contradicts the end in our own record, or itself, or reports an end that the payment cannot have',
    closes: 'the lookup reports the end in our own record; what a proven callback said stays',
    manualResolution: 'ended',
  },
  'payment.stuck': {
    field: 'status',
    opens:
      "many scheduled polls found no end and there is no other break except for callbacks, or the rail can't be polled (not configured, country unknown); polling continues with the longest pause",
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'coverage.missing': {
    field: 'existence',
    opens:
      'the audit finds an open record of a gateway that is missing in the working set; it is added and polled',
    closes: 'its event arrives, or the payment ends',
    manualResolution: 'ended',
  },
  'coverage.ended': {
    field: 'status',
    opens:
      'the audit finds a payment that is open here and has ended in the record of its gateway; the end is taken over',
    closes: 'the event of that end arrives',
    manualResolution: 'again',
  },
  'coverage.behind': {
    field: 'status',
    opens:
      'the audit finds that a gateway has no record of an open payment, or has a payment open whose end it published',
    closes: 'a later audit finds its record up to date, or the payment ends',
    manualResolution: 'again',
  },
  'hold.unanswered': {
    field: 'entry',
    opens:
      'a payout is accepted, and the ledger has not answered its hold, although its gateway has published it repeatedly',
    closes: 'the answer comes, or the payout ends',
    manualResolution: 'again',
  },
  'payout.unattempted': {
    field: 'status',
    opens:
      'a payout was accepted long ago, its rail answers and does not know it, and no attempt to send it is known',
    closes: 'an attempt is reported, or the payout ends',
    manualResolution: 'ended',
  },
  'payment.end_untaken': {
    field: 'status',
    opens:
      'the rail reports an end, and its owner has not taken it over after many times the allowed lag, though every poll reports it again',
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'webhook.missing': {
    field: 'webhook',
    opens:
      'a payment has ended and there is no webhook for its merchant, although its gateway has published the end repeatedly',
    closes: 'the webhook is created',
    manualResolution: 'again',
  },
  'books.unposted': {
    field: 'entry',
    opens:
      'a payment completed, and the ledger has no entry for it after the grace time, even though its end was published again',
    closes: 'the entry comes',
    manualResolution: 'again',
  },
  'books.posted_wrongly': {
    field: 'entry',
    opens: 'the ledger has an entry that contradicts the state of its payment',
    closes: 'the state agrees with the entry',
    manualResolution: 'again',
  },
  'books.unreleased': {
    field: 'entry',
    opens:
      'a payout failed, and the ledger has not released its hold after the grace time, even though its end was published again',
    closes: 'the release comes',
    manualResolution: 'again',
  },
  'books.unexplained_entry': {
    field: 'entry',
    opens: 'the ledger has an entry for an unknown payment',
    closes: 'an event of the owner names the payment',
    manualResolution: 'final',
  },
  'books.ledger_behind': {
    field: 'position',
    opens:
      'payments wait for their entries, and the ledger has not applied events that the gateways published a grace time ago; one break for all payments',
    closes: 'the ledger has applied what the gateways have published',
    manualResolution: 'again',
  },
  'wallet.drift': {
    field: 'balance',
    opens:
      "a rail's wallet is out of the range that payments in flight allow; or it has long been within it, and no combination of them gives the difference",
    closes: 'the wallet is explained',
    manualResolution: 'again',
  },
  'close.differs': {
    field: 'status',
    opens:
      'the daily close finds that the rail reports another status, amount or fee of an ended payment than our books; nothing moves until operators have asked the rail which is right and corrected it by an order to the ledger',
    closes: 'a later close compares the same, and finds that both agree',
    manualResolution: 'again',
  },
  'close.not_at_rail': {
    field: 'status',
    opens: 'the daily close asks for a payment that ended here, and the rail does not know it',
    closes: 'a later close finds it',
    manualResolution: 'again',
  },
  'statement.differs': {
    field: 'status',
    opens: "a line of the rail's statement differs from our payment in status, amount, fee or currency",
    closes: 'a later statement of the rail has the same in its line, and agrees with our record',
    manualResolution: 'again',
  },
  'statement.not_in_books': {
    field: 'existence',
    opens: "a line of the rail's statement matches no payment of ours",
    closes: 'a later statement has the line, and we have its payment',
    manualResolution: 'again',
  },
  'statement.not_on_statement': {
    field: 'status',
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

/** Who finds the kinds with this prefix, unless a finding names another; rails' answers to polls, if it is not here. */
const observers: Readonly<Record<string, Observer>> = {
  callback: 'callback',
  coverage: 'audit',
  hold: 'audit',
  webhook: 'audit',
  books: 'books',
  wallet: 'audit',
  close: 'close',
  statement: 'statement',
};

/** The properties of a kind, and who finds it. */
export function termsOfBreak(kind: BreakKind): BreakTerms & { readonly observer: Observer } {
  return { ...breakKinds[kind], observer: observers[kind.slice(0, kind.indexOf('.'))] ?? 'poll' };
}
