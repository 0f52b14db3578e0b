/** A code of a public interface: its answer, and what every document says of it. */
export interface ErrorCode {
  /** The HTTP status. */
  readonly status: 200 | 400 | 401 | 403 | 409 | 422 | 429 | 500 | 503;
  /** What it means, for the merchant. */
  readonly meaning: string;
  /** What the merchant does about it. */
  readonly remedy: string;
  /** What the people who run the hub do about it, if anything, as Markdown of `docs/failure-modes.md`. */
  readonly operator?: string;
  /**
   * Whether the request certainly had no effect and never will: the same one is refused again until what it names
   * changes.
   */
  readonly definitive: boolean;
}

/** Every responseCode of the payout API (contract 7 and 10.1; after ISO 8583). */
export const payoutCodes = {
  answered: {
    code: '00',
    status: 200,
    meaning: 'answered',
    remedy: '–',
    definitive: false,
  },
  accepted: {
    code: '09',
    status: 200,
    meaning: 'accepted',
    remedy: 'it is stored for good: wait for the webhook, or look it up',
    definitive: false,
  },
  notFound: {
    code: '25',
    status: 400,
    meaning: 'not found',
    remedy: 'check the reference, or the account; after a lost answer send the payout again unchanged',
    definitive: false,
  },
  malformed: {
    code: '30',
    status: 400,
    meaning: 'a field is missing, malformed or of a wrong type: the message names it by its path',
    remedy: 'correct the field',
    definitive: true,
  },
  invalidAmount: {
    code: '13',
    status: 400,
    meaning: 'a number that is no acceptable amount',
    remedy:
      'send an amount above zero, not below your minimum and no finer than its currency, and a `totalAmount` that is the sum',
    definitive: true,
  },
  unauthenticated: {
    code: '63',
    status: 401,
    meaning: 'the key is missing, wrong or has expired, or the signature of the request is missing or wrong',
    remedy:
      'send the Base64 of your public key as `x-api-key`, and a new signature if you sign, with the same request',
    operator: '`keys list`, `keys add`, `merchants show`, `merchants set-signatures`',
    definitive: false,
  },
  notPermitted: {
    code: '57',
    status: 403,
    meaning:
      'not permitted: the merchant is suspended, the key is not for payouts, or the request comes from an address that is not allowed',
    remedy: 'do what the message says, or ask your operator; then send the same request',
    operator: '`merchants resume` if the reason is gone, `keys list`, `merchants set-access`',
    definitive: false,
  },
  duplicate: {
    code: '94',
    status: 409,
    meaning: 'the reference was used before, with other content',
    remedy:
      'look it up: it may be the payout itself, sent with a changed field; for another payout take a new reference',
    definitive: false,
  },
  insufficientFunds: {
    code: '51',
    status: 422,
    meaning: 'the wallet has not enough',
    remedy: 'fund the wallet of the currency for amount and fee, or wait for open payouts to end',
    operator: '`balance`, `merchants set-wallet`, `fund wallet`',
    definitive: true,
  },
  overLimit: {
    code: '61',
    status: 422,
    meaning: 'over a limit of the merchant',
    remedy: 'send a smaller payout, wait until tomorrow (UTC), or ask your operator',
    operator: "raise the merchant's limit",
    definitive: true,
  },
  noRoute: {
    code: '92',
    status: 422,
    meaning: 'no route, or a processor that is unknown, inactive or blocked',
    remedy: 'read the processors again, and change country, currency, channel or `bankCode`',
    operator: 'check the routes in `RAILS`',
    definitive: true,
  },
  tooManyRequests: {
    code: '65',
    status: 429,
    meaning: 'too many requests: Retry-After says when to come again',
    remedy: 'wait, then send the same request',
    operator: "raise the merchant's rate if that is right",
    definitive: false,
  },
  unavailable: {
    code: '91',
    status: 503,
    meaning: 'not possible at present: send the same request again',
    remedy: 'it may or may not be stored: send it again unchanged, it is accepted once',
    operator:
      'look at `/readyz` of the service: MongoDB is away; `outbox`: too much waits for Kafka ' +
      '([OutboxFull](runbooks/outbox-full.md))',
    definitive: false,
  },
  broken: {
    code: '96',
    status: 500,
    meaning: 'something broke on our side',
    remedy: 'look it up, then send it again unchanged: it is accepted once',
    operator: "the service's log has the error, once",
    definitive: false,
  },
} as const satisfies Record<string, ErrorCode & { readonly code: string }>;

/** The name of a payout responseCode. */
export type PayoutCode = keyof typeof payoutCodes;

/** Every failedReason of the collection API (contract 7 and 10.10). */
export const collectionRefusals = {
  'DUPLICATE REFERENCE': {
    status: 200,
    meaning:
      'the reference was used before; the answer names the collection that has it, unless that ended years ago',
    remedy: 'check its status; another collection needs a new reference',
    definitive: false,
  },
  'INCORRECT SECURITY MODULE': {
    status: 200,
    meaning: 'X-module is missing or wrong',
    remedy: 'send the Base64 of its texts, joined exactly as they are in the body',
    definitive: true,
  },
  'INVALID AMOUNT': {
    status: 200,
    meaning:
      'zero or less, finer than the currency, too large, less than its fee or than the merchant’s minimum, or no multiple of five in Cote d’Ivoire',
    remedy: 'correct the amount',
    definitive: true,
  },
  'MERCHANT LIMIT EXCEEDED': {
    status: 200,
    meaning: 'over a limit of the merchant: statusDescription says which',
    remedy: 'send a smaller collection, wait until tomorrow (UTC), or ask your operator',
    operator: "raise the merchant's limit",
    definitive: true,
  },
  'OPERATOR NOT AVAILABLE': {
    status: 200,
    meaning:
      'mobile operator, country and currency do not fit, or the mobile operator can not be asked at present',
    remedy: 'check `operatorCode`; later, with a new reference where this one is recorded',
    operator: 'check the routes in `RAILS`, `merchants set-wallet`',
    definitive: true,
  },
  'INCORRECT OTP': {
    status: 200,
    meaning: 'the mobile operator does not take the code',
    remedy: 'ask the customer for the right one; three tries in all',
    definitive: true,
  },
  'OTP EXPIRED': {
    status: 200,
    meaning: 'the time for the code is over, or the mobile operator takes no more codes',
    remedy: 'wait for the webhook, then begin anew',
    definitive: true,
  },
  'OTP ATTEMPTS EXCEEDED': {
    status: 200,
    meaning: 'three codes were tried',
    remedy: 'wait for the webhook, then begin anew',
    definitive: true,
  },
  'COLLECTION CLOSED': {
    status: 200,
    meaning: 'the collection has ended: check its status',
    remedy: 'check its status: it has ended, or was never sent and will not be',
    definitive: true,
  },
  'COMPLETION NOT REQUIRED': {
    status: 200,
    meaning: 'the customer completes a collection of this flow alone, or it was passed on ten times',
    remedy: 'wait for the webhook',
    definitive: true,
  },
  'REQUEST MISMATCH': {
    status: 200,
    meaning: 'the body differs from that of the payin',
    remedy: 'send the same values again, with the code',
    definitive: true,
  },
  'UNKNOWN REFERENCE': {
    status: 200,
    meaning: 'there is no such collection',
    remedy: 'check the reference',
    definitive: true,
  },
  'INVALID REQUEST': {
    status: 400,
    meaning: 'a field is missing or malformed: statusDescription names it by its path',
    remedy: 'correct the field',
    definitive: true,
  },
  UNAUTHORIZED: {
    status: 401,
    meaning:
      'X-business or X-app is missing or wrong, the key has expired or is not for collections, the address is not allowed, the signature is missing or wrong, or the merchant is suspended',
    remedy:
      'send the Base64 of your public key as `X-business`, and `X-app: api`, and a new signature if you sign, with the same request',
    operator: '`merchants list`, `keys list`, `merchants set-access`, `merchants set-signatures`',
    definitive: false,
  },
  'TOO MANY REQUESTS': {
    status: 429,
    meaning: 'too many requests, or too many of one customer: Retry-After says when to come again',
    remedy: 'wait, then send the same request: this one was not recorded, or not passed on',
    operator:
      'raise the limit if that is right ([ADR 22](adr/0022-limits-are-counted-where-they-are-accepted.md))',
    definitive: false,
  },
  'SERVICE UNAVAILABLE': {
    status: 503,
    meaning: 'not possible at present: statusDescription says what to do',
    remedy: 'check its status: send a payin again at `25`, a completion at `09`',
    operator: 'look at `/readyz` of the service: MongoDB is away, or `outbox`: too much waits for Kafka',
    definitive: false,
  },
  'INTERNAL ERROR': {
    status: 500,
    meaning: 'something broke on our side: check the status before anything else',
    remedy: 'check its status: send a payin again at `25`, a completion at `09`',
    operator: "the service's log has the error, once",
    definitive: false,
  },
} as const satisfies Record<string, ErrorCode>;

/** Why the collection API refuses. */
export type CollectionRefusal = keyof typeof collectionRefusals;

/** The terms of a failedReason; undefined if it is not the collection API's own. */
export function findCollectionRefusal(reason: string): ErrorCode | undefined {
  const known: Readonly<Record<string, ErrorCode>> = collectionRefusals;
  return Object.hasOwn(known, reason) ? known[reason] : undefined;
}
