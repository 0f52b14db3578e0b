import {
  type accountNameRecord,
  type CollectionDetails,
  describeProblem,
  firstProblem,
  type nameEnquiryRequest,
  type PaymentKind,
  type PayoutChannel,
  type PayoutDetails,
  type processorRecord,
} from '@pesewa/contracts';
import type { FeeSchedule, Money, Result } from '@pesewa/kernel';
import type { z } from 'zod';

/** What the rail did is unknown: the reference stays as it is, and the lookup decides (invariant P4). */
export interface Unknown {
  readonly kind: 'unknown';
  /** For logs and breaks; contains no personal data. */
  readonly why: string;
  /** Set if the rail turned the request away: it should not be asked anything sooner. */
  readonly retryAfterMs?: number;
  /** Set if the rail refused the question for our key, which people must put right. */
  readonly isOurFault?: true;
}

/** The request certainly had no effect, even if it reached the rail: the same one may be sent again after the given time. */
export interface NotSent {
  readonly kind: 'notSent';
  readonly why: string;
  readonly retryAfterMs: number;
  /** The rail refuses us for our key, our funds or our limit, which people must put right. */
  readonly isOurFault?: true;
}

/** When to retry at a rail that is busy and doesn't say for how long. */
export const BUSY_RETRY_MS = 1_000;

/** When to retry at a rail that could not be connected to. */
export const UNREACHED_RETRY_MS = 1_000;

const OUR_FAULT_RETRY_MS = 30_000;

/** An unknown outcome. */
export function unknown(why: string): Unknown {
  return { kind: 'unknown', why };
}

/** A request that certainly had no effect. */
export function notSent(why: string, retryAfterMs: number): NotSent {
  return { kind: 'notSent', why, retryAfterMs };
}

/** A request that had no effect because the rail refuses us for our key, our funds or our limit. */
export function refusedUs(why: string): NotSent {
  return { ...notSent(why, OUR_FAULT_RETRY_MS), isOurFault: true };
}

/** An answer that doesn't have its documented form decides nothing; the message names the field, never its value. */
export function malformed(answer: { readonly status: number }, error: z.ZodError): Unknown {
  return unknown(`HTTP ${answer.status}, malformed: ${describeProblem(firstProblem(error))}`);
}

/** The result of a submission; only `completed` and `failed` are facts (ADR 62). */
export type SubmissionResult =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'completed'; readonly fee?: bigint }
  | { readonly kind: 'failed'; readonly reason: string }
  | Unknown
  | NotSent;

/**
 * A rail's answer about a payment; on `unknown` nothing may be decided.
 *
 * A question that the rail turned away or that did not reach it is `unknown` too; `notSent` is one that our own limits
 * held back.
 */
export type LookupResult =
  | { readonly kind: 'pending' }
  | {
      readonly kind: 'completed';
      /** Minor units; null if the rail doesn't report it (contract 2.10). */
      readonly amount: bigint | null;
      /** The rail's own fee in minor units; null if the rail doesn't report it. */
      readonly fee: bigint | null;
      readonly reason: string | null;
    }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'reversed';
      readonly amount: bigint | null;
      readonly fee: bigint | null;
      readonly reason: string;
    }
  | { readonly kind: 'notFound' }
  | Unknown;

/** The result of initiating a collection; the address is empty except for link flows. */
export type InitiationResult =
  | { readonly kind: 'acknowledged'; readonly redirectionUrl: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | Unknown
  | NotSent;

/** The result of completing a collection; a refusal (`INCORRECT OTP`) does not end the collection. */
export type CompletionResult =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'refused'; readonly reason: string }
  | Unknown
  | NotSent;

/** A payout as it is sent (contract 2.2); the reference is ours, the amount in minor units of the currency. */
export interface OutgoingPayout extends PayoutDetails {
  readonly reference: string;
  readonly currency: string;
  readonly amount: bigint;
}

/**
 * A collection as it is sent (contract 2.8): the reference is ours, the amount in minor units of the currency, and the
 * country of two or three letters is sent as two.
 */
export interface OutgoingCollection extends CollectionDetails {
  readonly reference: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** The parts of a callback that may prove it. */
export interface CallbackEvidence {
  /** As received; names in any case. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Uint8Array;
  /** The sender's address; undefined if it can't be trusted. */
  readonly clientAddress: string | undefined;
  /**
   * When it was received. Its timestamp is compared with this time, so that the same evidence can be judged again
   * later.
   */
  readonly receivedAtMs: number;
}

/** What a callback's address and signature prove (ADR 6). */
export interface CallbackVerdict {
  /** `any`: the rail lists no addresses. */
  readonly address: 'allowed' | 'unlisted' | 'any';
  /** `not_required`: the rail has no secrets; a signature is then not looked at. */
  readonly signature: 'verified' | 'wrong' | 'expired' | 'missing' | 'not_required';
  /** The rail's own id of the message (`webhook-id`); null unless a verified signature covers it. */
  readonly messageId: string | null;
  /** Whether its claim is a fact: its signature verifies, and the rail is configured as proven. */
  readonly proven: boolean;
}

/** A callback's claims, read but not trusted (ADR 6). */
export interface RailCallback {
  /** The reference that we sent. */
  readonly reference: string;
  readonly claimedStatus: string;
  /** Decimal text, as the callback wrote it. */
  readonly claimedAmount: string | null;
  /** ISO 4217; null for payouts, and if the named currency does not have the form of a code. */
  readonly claimedCurrency: string | null;
  readonly claimedFee: string | null;
  readonly claimedReason: string | null;
}

/** A bank or mobile operator that payouts can be sent to (contract 2.6). */
export type Processor = Readonly<z.output<typeof processorRecord>>;

/** A rail's answer to a question that moves no money, or why there is none. */
export type Answer<Value> = { readonly kind: 'answered'; readonly value: Value } | Unknown;

/** The account that a name enquiry asks for (contract 4.6). */
export type NameQuery = Readonly<z.output<typeof nameEnquiryRequest>>;

/** The holder of an account (contract 2.7). */
export type AccountName = Readonly<z.output<typeof accountNameRecord>>;

/** Where a rail's payouts can go; the country has three letters. */
export interface PayoutRoute {
  readonly country: string;
  readonly currency: string;
  readonly channels: readonly PayoutChannel[];
}

/** What a rail can do whatever it moves, as data. */
export interface RailCapabilities {
  /** Whether a callback can be more than a hint (ADR 6). */
  readonly callbacks: 'hint' | 'proven';
  /**
   * The limits for asking about payments: requests per second over all replicas, and concurrent requests per replica
   * (ADR 26).
   */
  readonly polling: { readonly perSecondMax: number; readonly concurrencyMax: number };
  /** Whether it sends statements of its movements, so that few payments have to be asked about one by one. */
  readonly sendsStatements: boolean;
  /** The longest time that any one call takes, including the wait for its turn; a lease must be longer. */
  readonly callDeadlineMs: number;
}

/** Reads the body of a callback into what it claims. */
export type ReadCallback = (bodyText: string) => Result<RailCallback, 'callback.malformed'>;

/** The payouts of a rail. */
export interface RailPayouts {
  readonly routes: readonly PayoutRoute[];
  /** The rail's own fee, which is a cost to us. */
  readonly fee: FeeSchedule;
  readonly submit: (order: OutgoingPayout) => Promise<SubmissionResult>;
  readonly lookUp: (query: {
    readonly reference: string;
    readonly currency: string;
  }) => Promise<LookupResult | NotSent>;
  /** The processors of a country, three letters. */
  readonly processors: (country: string) => Promise<Answer<readonly Processor[]>>;
  /** The holder of an account; null if the rail answers that there is none. */
  readonly enquireName: (query: NameQuery) => Promise<Answer<AccountName | null>>;
  readonly readCallback: ReadCallback;
}

/** The collections of a rail. */
export interface RailCollections {
  /** The mobile operators whose collections go through this rail (contract 2.8). */
  readonly operatorCodes: readonly string[];
  /** The rail's own fee, which is a cost to us. */
  readonly fee: FeeSchedule;
  readonly initiate: (order: OutgoingCollection) => Promise<InitiationResult>;
  readonly complete: (
    order: OutgoingCollection & { readonly otpCode?: string | undefined },
  ) => Promise<CompletionResult>;
  readonly check: (query: {
    readonly reference: string;
    readonly country: string;
    readonly currency: string;
  }) => Promise<LookupResult | NotSent>;
  readonly readCallback: ReadCallback;
}

/**
 * One rail, whatever system is behind it. None of its functions throws because of what the rail does or fails to do.
 */
export interface Rail {
  readonly name: string;
  readonly capabilities: RailCapabilities;
  /** Whether a call would be attempted now; if not, every call gives `notSent`, because the circuit is open. */
  readonly isAvailable: () => boolean;
  /** Undefined if the rail takes no payouts. */
  readonly payouts?: RailPayouts | undefined;
  /** Undefined if the rail takes no collections. */
  readonly collections?: RailCollections | undefined;
  readonly balances: () => Promise<
    { readonly kind: 'answered'; readonly wallets: readonly Money[] } | Unknown
  >;
  /** Judges a callback's origin and what proves it, from its raw bytes and before anything is read. */
  readonly verifyCallback: (request: CallbackEvidence) => CallbackVerdict;
}

/** A rail that takes payouts. */
export type PayoutRail = Rail & { readonly payouts: RailPayouts };

/** A rail that takes collections. */
export type CollectionRail = Rail & { readonly collections: RailCollections };

/** Whether a rail takes payouts. */
export function takesPayouts<One extends Pick<Rail, 'payouts'>>(
  rail: One,
): rail is One & Pick<PayoutRail, 'payouts'> {
  return rail.payouts !== undefined;
}

/** Whether a rail takes collections. */
export function takesCollections<One extends Pick<Rail, 'collections'>>(
  rail: One,
): rail is One & Pick<CollectionRail, 'collections'> {
  return rail.collections !== undefined;
}

/** The part of a rail that moves payments of a kind; undefined if there is no rail, or it moves none. */
export function partOf<Payouts, Collections>(
  rail: { readonly payouts?: Payouts; readonly collections?: Collections } | undefined,
  kind: PaymentKind,
): Payouts | Collections | undefined {
  return kind === 'payout' ? rail?.payouts : rail?.collections;
}
