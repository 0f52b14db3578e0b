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
  /** The field, and who finds it, unless a finding names others. */
  readonly field: Field;
  readonly observer: Observer;
  readonly manualResolution: ManualResolution;
}

/** Every kind of break (ADR 70); `<subject>.<what is wrong>`. The README says when each opens and closes by itself. */
export const breakKinds = {
  'callback.denied': { field: 'status', observer: 'callback', manualResolution: 'final' },
  'callback.amount_differs': { field: 'amount', observer: 'callback', manualResolution: 'final' },
  'callback.fee_differs': { field: 'fee', observer: 'callback', manualResolution: 'final' },
  'callback.unknown_reference': { field: 'existence', observer: 'callback', manualResolution: 'final' },
  'payout.amount_differs': { field: 'amount', observer: 'poll', manualResolution: 'ended' },
  'collection.amount_differs': { field: 'amount', observer: 'poll', manualResolution: 'decided' },
  'payout.not_found': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'payout.refused_again': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'collection.not_found': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'payment.contradiction': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'payment.stuck': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'coverage.missing': { field: 'existence', observer: 'audit', manualResolution: 'ended' },
  'coverage.ended': { field: 'status', observer: 'audit', manualResolution: 'again' },
  'coverage.behind': { field: 'status', observer: 'audit', manualResolution: 'again' },
  'hold.unanswered': { field: 'entry', observer: 'audit', manualResolution: 'again' },
  'payout.unattempted': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'payment.end_untaken': { field: 'status', observer: 'poll', manualResolution: 'ended' },
  'webhook.missing': { field: 'webhook', observer: 'audit', manualResolution: 'again' },
  'books.unposted': { field: 'entry', observer: 'books', manualResolution: 'again' },
  'books.posted_wrongly': { field: 'entry', observer: 'books', manualResolution: 'again' },
  'books.unreleased': { field: 'entry', observer: 'books', manualResolution: 'again' },
  'books.unexplained_entry': { field: 'entry', observer: 'books', manualResolution: 'final' },
  'wallet.drift': { field: 'balance', observer: 'audit', manualResolution: 'again' },
  'close.differs': { field: 'status', observer: 'close', manualResolution: 'again' },
  'close.not_at_rail': { field: 'status', observer: 'close', manualResolution: 'again' },
  'statement.differs': { field: 'status', observer: 'statement', manualResolution: 'again' },
  'statement.not_in_books': { field: 'existence', observer: 'statement', manualResolution: 'again' },
  'statement.not_on_statement': { field: 'status', observer: 'statement', manualResolution: 'again' },
} as const satisfies Record<string, BreakTerms>;

/** A kind of break. */
export type BreakKind = keyof typeof breakKinds;

/** Whether a text is a kind of break. */
export function isBreakKind(kind: string): kind is BreakKind {
  return Object.hasOwn(breakKinds, kind);
}

/** The properties of a kind. */
export function termsOfBreak(kind: BreakKind): BreakTerms {
  return breakKinds[kind];
}
