import { addressRangeSetting } from '@pesewa/addresses';
import { channels, countryCode, mobileOperators, servedCountries } from '@pesewa/contracts';
import { isCurrency } from '@pesewa/kernel';
import { z } from 'zod';
import type { PayoutRoute } from './connector.ts';

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .transform((url) => url.replace(/\/+$/, ''));

const minorUnits = z.int().min(0).transform(BigInt);

/** Only basis points (50 is 0.5 %), or a whole schedule in minor units. */
const feeSchedule = z.union([
  z
    .int()
    .min(0)
    .max(10_000)
    .transform((basisPoints) => ({ fixedMinor: 0n, basisPoints: BigInt(basisPoints), minimumMinor: 0n })),
  z.strictObject({
    fixedMinor: minorUnits.default(0n),
    basisPoints: z.int().min(0).max(10_000).transform(BigInt),
    minimumMinor: minorUnits.default(0n),
    maximumMinor: minorUnits.optional(),
  }),
]);

const payoutRoute = z.strictObject({
  country: z.string().refine((code) => /^[A-Z]{3}$/.test(code) && countryCode(code) === code, {
    error: 'must be a three-letter country code',
  }),
  currency: z.string().refine(isCurrency, { error: 'must be an ISO 4217 currency' }),
  channels: z
    .array(z.enum(channels))
    .min(1)
    .default([...channels]),
});

const operatorCode = z
  .string()
  .refine((code) => mobileOperators.some((mobileOperator) => mobileOperator.code === code), {
    error: 'must be an operatorCode of the contract',
  });

const defaultRoutes: readonly PayoutRoute[] = Object.values(servedCountries).map(({ code, currency }) => ({
  country: code,
  currency,
  channels,
}));

const rail = z
  .strictObject({
    /** The name is part of callback addresses and is sent on topics. */
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: 'must be lower-case letters, digits, hyphens' }),
    connector: z.literal('upstream'),
    transferUrl: httpUrl,
    collectionsUrl: httpUrl,
    publicKey: z.string().regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be printable ASCII' }),
    timeoutMs: z.int().min(100).max(120_000).default(10_000),
    concurrencyMax: z.int().min(1).max(1_000).default(64),
    requestsPerSecondMax: z.int().min(1).max(100_000).default(500),
    /** For all replicas together; by default half of the limits above, so that the other half is left for payments. */
    pollsPerSecondMax: z.number().min(0.1).max(100_000).optional(),
    /** For each replica. */
    pollConcurrencyMax: z.int().min(1).max(1_000).optional(),
    breakerFailures: z.int().min(1).max(1_000).default(10),
    breakerOpenMs: z.int().min(100).max(600_000).default(5_000),
    payoutFee: feeSchedule.default({ fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n }),
    collectionFee: feeSchedule.default({ fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n }),
    /** The addresses that its callbacks may come from; an empty list allows any. */
    callbackAddresses: z.array(addressRangeSetting).default([]),
    callbacks: z.enum(['hint', 'proven']).default('hint'),
    /** If there are any, every callback must be signed with one of them. */
    callbackSecrets: z
      .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: 'must be a whsec_ secret' }))
      .default([]),
    payouts: z
      .array(payoutRoute)
      .default(defaultRoutes.map((route) => ({ ...route, channels: [...channels] }))),
    operatorCodes: z
      .array(operatorCode)
      .default(mobileOperators.map((mobileOperator) => mobileOperator.code)),
  })
  .refine((settings) => settings.callbacks === 'hint' || settings.callbackSecrets.length > 0, {
    path: ['callbackSecrets'],
    error: 'is required where callbacks are proven',
  })
  .refine(({ pollsPerSecondMax, requestsPerSecondMax: most }) => (pollsPerSecondMax ?? 0) <= most, {
    path: ['pollsPerSecondMax'],
    error: 'is more than requestsPerSecondMax',
  })
  .refine(({ pollConcurrencyMax, concurrencyMax: most }) => (pollConcurrencyMax ?? 0) <= most, {
    path: ['pollConcurrencyMax'],
    error: 'is more than concurrencyMax',
  })
  .transform((settings) => ({
    ...settings,
    pollsPerSecondMax: settings.pollsPerSecondMax ?? Math.max(1, settings.requestsPerSecondMax / 2),
    pollConcurrencyMax: settings.pollConcurrencyMax ?? Math.ceil(settings.concurrencyMax / 2),
  }));

/** The settings of one rail. */
export type RailSettings = z.output<typeof rail>;

/**
 * Reads the variable `RAILS`: JSON text of an array of rails, at least one, with unique names.
 *
 * name, connector, transferUrl, collectionsUrl and publicKey are required. If two rails serve the same route, the first
 * one takes it.
 */
export const railSettings = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
  })
  .pipe(
    z
      .array(rail)
      .min(1, { error: 'needs at least one rail' })
      .refine((rails) => new Set(rails.map(({ name }) => name)).size === rails.length, {
        error: 'names a rail twice',
      })
      .superRefine((rails, context) => {
        for (const path of repeatedSecrets(rails))
          context.addIssue({
            code: 'custom',
            path: [...path],
            message: 'is the secret of another place: a rail that has it could speak for both',
          });
      }),
  );

/**
 * The places of callback secrets that occur earlier too; their bytes are compared, because one key has several
 * spellings.
 */
function repeatedSecrets(rails: readonly RailSettings[]): readonly (readonly (string | number)[])[] {
  const seen = new Set<string>();
  return rails.flatMap(({ callbackSecrets }, rail) =>
    callbackSecrets.flatMap((secret, index) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').toString('hex');
      if (!seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [[rail, 'callbackSecrets', index]];
    }),
  );
}
