/**
 * What a break is about (ADR 70): a field of a payment, `existence` if only one side has the payment at all, or the
 * balance of a wallet.
 */
export type Field = 'status' | 'amount' | 'fee' | 'currency' | 'existence' | 'entry' | 'webhook' | 'balance';

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
    opens: 'a callback claims an end that the lookup contradicts, or denies after the allowed lag',
    closes: 'the payment ends as every callback claimed',
    manualResolution: 'final',
  },
  'callback.amount_differs': {
    field: 'amount',
    opens: 'a callback claims another amount than the lookup or a proven callback, whose amount counts',
    closes: null,
    manualResolution: 'final',
  },
  'callback.fee_differs': {
    field: 'fee',
    opens: 'a proven callback claims a fee that the payment cannot have cost; the fact has none',
    closes: null,
    manualResolution: 'final',
  },
  'callback.unknown_reference': {
    field: 'existence',
    opens: 'a proven callback names a payment still unknown after the grace time',
    closes: 'an event names it, or it is forgotten',
    manualResolution: 'final',
  },
  'payout.amount_differs': {
    field: 'amount',
    opens: 'the rail reports another amount than was requested; no fact is published',
    closes: 'the lookup reports the requested amount',
    manualResolution: 'ended',
  },
  'collection.amount_differs': {
    field: 'amount',
    opens:
      'a callback claims another amount or currency of a collection that the rail reports COMPLETED, or that has completed here',
    closes: 'an open collection completes with the decided or the claimed amount',
    manualResolution: 'decided',
  },
  'payout.not_found': {
    field: 'status',
    opens: 'the rail accepted the payout, but does not find it after the grace time; nothing is sent again',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'payout.refused_again': {
    field: 'status',
    opens:
      'the rail refused an attempt after an unclear one, and finds neither after the grace time; the hold stays',
    closes: 'the payout ends',
    manualResolution: 'ended',
  },
  'collection.not_found': {
    field: 'status',
    opens: 'every poll is answered NOT FOUND for two grace times; polling continues',
    closes: 'the lookup knows it, or it ends',
    manualResolution: 'ended',
  },
  'payment.contradiction': {
    field: 'status',
    opens: 'the rail contradicts our recorded end or itself, or reports an impossible end',
    closes: 'the lookup reports our recorded end; what a proven callback said stays',
    manualResolution: 'ended',
  },
  'payment.stuck': {
    field: 'status',
    opens: "POLLS_BEFORE_BREAK polls found no end and opened no other break, or the rail can't be polled",
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'coverage.missing': {
    field: 'existence',
    opens: "the working set lacks a gateway's open payment, although it was republished; its record adds it",
    closes: 'its event arrives, or the payment ends',
    manualResolution: 'ended',
  },
  'coverage.ended': {
    field: 'status',
    opens: 'a payment open here has ended at its gateway, although it was republished; its record ends it',
    closes: 'the event of that end arrives',
    manualResolution: 'again',
  },
  'coverage.behind': {
    field: 'status',
    opens: 'a gateway lacks an open payment, or has one open whose end it published',
    closes: 'the record is up to date again, or the payment ends',
    manualResolution: 'again',
  },
  'hold.unanswered': {
    field: 'entry',
    opens: "the ledger has not answered an accepted payout's hold, although its gateway has republished it",
    closes: 'the answer comes, or the payout ends',
    manualResolution: 'again',
  },
  'payout.unattempted': {
    field: 'status',
    opens: 'neither the rail nor we know an attempt of a payout that was accepted long ago',
    closes: 'an attempt is reported, or it ends',
    manualResolution: 'ended',
  },
  'payment.end_untaken': {
    field: 'status',
    opens: "the owner has not taken over the rail's end after many times the allowed lag and repeated facts",
    closes: 'the payment ends',
    manualResolution: 'ended',
  },
  'webhook.missing': {
    field: 'webhook',
    opens: 'an ended payment has no webhook, although its gateway has republished the end',
    closes: 'the webhook is created',
    manualResolution: 'again',
  },
  'books.unposted': {
    field: 'entry',
    opens:
      'the ledger has no entry of a completed payment after the grace time, although its end was republished',
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
      "the ledger has not released a failed payout's hold after the grace time, although its end was republished",
    closes: 'the release comes',
    manualResolution: 'again',
  },
  'books.unexplained_entry': {
    field: 'entry',
    opens: 'the ledger has an entry for an unknown payment',
    closes: 'an event of the owner names the payment',
    manualResolution: 'final',
  },
  'wallet.drift': {
    field: 'balance',
    opens:
      "a rail's wallet is out of the range that payments in flight allow, or has long been within it unexplained",
    closes: 'the wallet is explained',
    manualResolution: 'again',
  },
  'close.differs': {
    field: 'status',
    opens: 'the daily close finds another status, amount or fee at the rail than in our books',
    closes: 'a later close compares the same, and both agree',
    manualResolution: 'again',
  },
  'close.not_at_rail': {
    field: 'status',
    opens: 'the rail does not know an ended payment when the daily close asks',
    closes: 'a later close finds it',
    manualResolution: 'again',
  },
  'statement.differs': {
    field: 'status',
    opens: 'a statement line differs from our payment in status, amount, fee or currency',
    closes: 'the newest statement that has the field agrees with our record',
    manualResolution: 'again',
  },
  'statement.not_in_books': {
    field: 'existence',
    opens: 'a statement line matches no payment of ours',
    closes: 'a statement has it, and we have its payment',
    manualResolution: 'again',
  },
  'statement.not_on_statement': {
    field: 'status',
    opens: "a payment that ended in a statement's window has no line in any",
    closes: 'a statement has one',
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
