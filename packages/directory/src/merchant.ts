import { addressRangeSetting } from '@pesewa/addresses';
import { countryCode, describeProblem, firstProblem, keyScopes, merchantStatuses } from '@pesewa/contracts';
import { accept, isCurrency, type Result, refuse } from '@pesewa/kernel';
import { signingSecretPattern } from '@pesewa/signatures';
import { z } from 'zod';

/**
 * Clients with `useBigInt64` read a long as a bigint; a whole number that somebody entered by hand is a JavaScript
 * number.
 */
const minorUnits = z
  .union([z.bigint(), z.int().transform(BigInt)])
  .refine((minor) => minor >= 0n, { error: 'must not be negative' });

const wholeCount = (min: number, max: number) =>
  z.union([z.int(), z.bigint().transform(Number)]).pipe(z.int().min(min).max(max));

const feeSchedule = z.object({
  fixedMinor: minorUnits,
  basisPoints: minorUnits.refine((points) => points <= 10_000n, { error: 'must be at most 10000' }),
  minimumMinor: minorUnits,
  maximumMinor: minorUnits.optional(),
});

const currency = z.string().refine(isCurrency, { error: 'must be an ISO 4217 currency' });

const webAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).max(2_048);

/** A wallet as it is stored: one per currency of a merchant. */
export const walletDocument = z.object({
  currency,
  country: z.string().refine((code) => /^[A-Z]{3}$/.test(code) && countryCode(code) === code, {
    error: 'must be a three-letter country code',
  }),
  payoutFee: feeSchedule,
  collectionFee: feeSchedule,
});

/** How many secrets of a merchant are kept at most. */
const WEBHOOK_SECRETS_MAX = 4;

/** The webhook settings as they are stored; the first secret is the newest. */
export const webhooksDocument = z.object({
  payoutsUrl: webAddress.nullable(),
  collectionsUrl: webAddress.nullable(),
  secrets: z
    .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: 'must be a whsec_ secret' }))
    .min(1)
    .max(WEBHOOK_SECRETS_MAX),
  /** Until when secrets other than the newest sign too; absent if they do not. */
  previousUntil: z.date().optional(),
});

/** The limits as they are stored. */
export const limitsDocument = z.object({
  requestsPerSecond: wholeCount(1, 1_000_000),
  perPayoutMinMinor: z.record(currency, minorUnits).optional(),
  perPayoutMaxMinor: z.record(currency, minorUnits).optional(),
  /** The limit of all payouts accepted within one UTC day, whatever their outcome. */
  perDayMaxMinor: z.record(currency, minorUnits).optional(),
  /** How many payouts to one beneficiary's account, and of what amount, are accepted within one UTC day. */
  perBeneficiaryPerDayMax: wholeCount(1, 1_000_000).optional(),
  perBeneficiaryPerDayMaxMinor: z.record(currency, minorUnits).optional(),
  perCollectionMinMinor: z.record(currency, minorUnits).optional(),
  perCollectionMaxMinor: z.record(currency, minorUnits).optional(),
  /** The limit of all collections accepted within one UTC day, whatever their outcome. */
  collectionsPerDayMaxMinor: z.record(currency, minorUnits).optional(),
  /** A name enquiry reveals personal data, so it has a limit of its own. */
  nameEnquiriesPerMinute: wholeCount(1, 100_000).optional(),
  /** A collection sends its customer a prompt or an OTP, so each number has a limit. 1,000,000 means no limit. */
  collectionsPerNumberPerHour: wholeCount(1, 1_000_000).optional(),
});

/** Enough for the networks of a merchant, each of which is compared with each request. */
const ADDRESSES_MAX = 64;

/** Two that live for each scope, and those that have expired since the last one was added. */
const KEYS_MAX = 8;

/** A key as it is stored: the SHA-256 of a public key, hex, with what it is for and until when. */
export const keyDocument = z.object({
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z
    .array(z.enum(keyScopes))
    .min(1, { error: `must have one of ${keyScopes.join(', ')}` })
    .refine((scopes) => new Set(scopes).size === scopes.length, { error: 'has one scope twice' }),
  createdAt: z.date(),
  /** From then on it is as unknown as one that never was; absent means that it does not expire. */
  expiresAt: z.date().optional(),
});

/** The addresses and CIDR ranges that requests of a merchant may come from; an empty list allows all. */
export const allowedAddressesDocument = z.array(addressRangeSetting).max(ADDRESSES_MAX);

/** Enough to change from one secret to the next without a break, and no more that may lie around. */
const SIGNING_SECRETS_MAX = 2;

/** How a merchant's requests are signed, as it is stored (ADR 15). */
export const signingDocument = z
  .object({
    isRequired: z.boolean(),
    /** Each of them may have signed a request. */
    secrets: z
      .array(z.string().regex(signingSecretPattern, { error: 'must be an rqsec_ secret' }))
      .max(SIGNING_SECRETS_MAX, { error: 'are two already: remove one of them first' }),
  })
  // Else every request would be refused, or worse, taken unsigned.
  .refine(({ isRequired, secrets }) => !isRequired || secrets.length > 0, {
    error: 'signatures are required, so a secret must be there',
  });

/** A merchant as it is stored in the collection `merchants`. */
export const merchantDocument = z.object({
  _id: z.string().regex(/^[a-z0-9][a-z0-9-]{1,31}$/, { error: 'must be 2 to 32 of a-z, 0-9, -' }),
  name: z.string().trim().min(1).max(140),
  status: z.enum(merchantStatuses),
  allowedAddresses: allowedAddressesDocument,
  signing: signingDocument,
  keys: z.array(keyDocument).min(1).max(KEYS_MAX),
  wallets: z
    .array(walletDocument)
    .refine((wallets) => new Set(wallets.map((wallet) => wallet.currency)).size === wallets.length, {
      error: 'has one currency twice',
    }),
  webhooks: webhooksDocument,
  limits: limitsDocument,
  createdAt: z.date(),
});

/** One of a merchant's keys. */
export type MerchantKey = Readonly<z.output<typeof keyDocument>>;

/** The stored form of a merchant. */
export type MerchantDocument = z.output<typeof merchantDocument>;

/** A merchant's wallet: its currency, its home and its prices. */
export type MerchantWallet = Readonly<z.output<typeof walletDocument>>;

/** Where a merchant's webhooks go and its secrets, the newest first; {@link signingSecrets} are those that sign. */
export type MerchantWebhooks = Readonly<z.output<typeof webhooksDocument>>;

/**
 * Puts a new secret first. What signs now goes on signing too until the grace time is over, and ends at once if that is
 * zero; a secret that has ended never signs again.
 */
export function withNewSecret(
  webhooks: MerchantWebhooks,
  secret: string,
  { graceMs, nowMs }: { readonly graceMs: number; readonly nowMs: number },
): MerchantWebhooks {
  const { previousUntil: _ended, ...settings } = webhooks;
  if (graceMs === 0) return { ...settings, secrets: [secret] };
  const secrets = [secret, ...signingSecrets(webhooks, nowMs)].slice(0, WEBHOOK_SECRETS_MAX);
  return { ...settings, secrets, previousUntil: new Date(nowMs + graceMs) };
}

/** The secrets that sign at this time: the newest one, and those before it until their grace time is over. */
export function signingSecrets(
  { secrets, previousUntil }: Pick<MerchantWebhooks, 'secrets' | 'previousUntil'>,
  nowMs: number,
): readonly string[] {
  return previousUntil && nowMs < previousUntil.getTime() ? secrets : secrets.slice(0, 1);
}

/** Whether requests must be signed, and by which secrets; without a secret no signature is looked at. */
export type MerchantSigning = Readonly<z.output<typeof signingDocument>>;

/** A merchant's limits; amounts are in minor units by currency, an absent one means unlimited. */
export type MerchantLimits = Readonly<MerchantDocument['limits']>;

/** A merchant and its settings. Includes suspended merchants, which are known but may not pay. */
export interface Merchant {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  readonly keys: readonly MerchantKey[];
  /** The addresses and CIDR ranges that its requests may come from; empty allows all. */
  readonly allowedAddresses: readonly string[];
  /** Whether its requests must be signed, and the secrets that may sign them. */
  readonly signing: MerchantSigning;
  readonly wallets: readonly MerchantWallet[];
  readonly webhooks: MerchantWebhooks;
  readonly limits: MerchantLimits;
  readonly createdAt: Date;
}

/** A stored merchant can't be read; names the fields, never their values. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
}

/** Reads a stored merchant; throws if it is malformed. */
export function readMerchant(document: unknown): Merchant {
  const parsed = merchantDocument.safeParse(document);
  if (!parsed.success) {
    const paths = [...new Set(parsed.error.issues.map((issue) => issue.path.map(String).join('.')))];
    throw new DirectoryError(`a stored merchant is malformed at: ${paths.join(', ')}`);
  }
  const { _id: id, ...settings } = parsed.data;
  return { id, ...settings };
}

/** The merchant, if it may be stored like this; else the first problem. */
export function checkMerchant({ id, ...settings }: Merchant): Result<Merchant, string> {
  const parsed = merchantDocument.safeParse({ _id: id, ...settings });
  if (!parsed.success)
    return refuse(describeProblem(firstProblem(parsed.error)).replace(/^_id /, 'merchantId '));
  return accept(readMerchant(parsed.data));
}
