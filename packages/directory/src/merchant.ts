import { countryCode } from '@pesewa/contracts';
import { isCurrency } from '@pesewa/kernel';
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

/** The webhook settings as they are stored; the first secret is the newest. */
export const webhooksDocument = z.object({
  payoutsUrl: webAddress.nullable(),
  collectionsUrl: webAddress.nullable(),
  secrets: z
    .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: 'must be a whsec_ secret' }))
    .min(1)
    .max(4),
});

/** The limits as they are stored. */
export const limitsDocument = z.object({
  requestsPerSecond: wholeCount(1, 1_000_000),
  perPayoutMaxMinor: z.record(currency, minorUnits).optional(),
  /** The limit of all payouts accepted within one UTC day, whatever their outcome. */
  perDayMaxMinor: z.record(currency, minorUnits).optional(),
  /** A name enquiry reveals personal data, so it has a limit of its own. */
  nameEnquiriesPerMinute: wholeCount(1, 100_000).optional(),
  /** A collection sends its customer a prompt or an OTP, so each number has a limit. 1,000,000 means no limit. */
  collectionsPerNumberPerHour: wholeCount(1, 1_000_000).optional(),
});

/** A merchant as it is stored in the collection `merchants`. */
export const merchantDocument = z.object({
  _id: z.string().regex(/^[a-z0-9][a-z0-9-]{1,31}$/, { error: 'must be 2 to 32 of a-z, 0-9, -' }),
  name: z.string().trim().min(1).max(140),
  status: z.enum(['active', 'suspended']),
  keyHashes: z.array(z.string().regex(/^[0-9a-f]{64}$/)).min(1),
  wallets: z
    .array(walletDocument)
    .refine((wallets) => new Set(wallets.map((wallet) => wallet.currency)).size === wallets.length, {
      error: 'has one currency twice',
    }),
  webhooks: webhooksDocument,
  limits: limitsDocument,
  createdAt: z.date(),
});

/** The stored form of a merchant. */
export type MerchantDocument = z.output<typeof merchantDocument>;

/** A merchant's wallet: its currency, its home and its prices. */
export type MerchantWallet = Readonly<z.output<typeof walletDocument>>;

/** Where a merchant's webhooks go and the secrets that sign them: the first is the newest, and all of them sign. */
export type MerchantWebhooks = Readonly<z.output<typeof webhooksDocument>>;

/** A merchant's limits; amounts are in minor units by currency, an absent one means unlimited. */
export type MerchantLimits = Readonly<MerchantDocument['limits']>;

/** A merchant and its settings. Includes suspended merchants, which are known but may not pay. */
export interface Merchant {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'suspended';
  /** SHA-256 of each public key, hex. */
  readonly keyHashes: readonly string[];
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
