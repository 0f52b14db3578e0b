import { addressRangeSetting } from '@pesewa/addresses';
import { channels, countryCode, mobileOperators, servedCountries } from '@pesewa/contracts';
import { isCurrency } from '@pesewa/kernel';
import { z } from 'zod';
import { CALL_TIMEOUT_MS, TIMEOUT_MS_MAX } from './call-deadlines.ts';
import type { PayoutRoute } from './rail.ts';

/** The address of a rail, without slashes at its end. */
export const httpUrl = z
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

/** The settings of every rail, whatever its connector. */
export const commonShape = {
  /** The name is part of callback addresses and is sent on topics. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, { error: 'must be lower-case letters, digits, hyphens' }),
  timeoutMs: z
    .int()
    .min(100)
    .max(TIMEOUT_MS_MAX, {
      error: `must be at most ${TIMEOUT_MS_MAX}: within the ${CALL_TIMEOUT_MS} ms that an ending process waits for a call, its outcome has to be recorded too`,
    })
    .default(10_000),
  concurrencyMax: z.int().min(1).max(1_000).default(64),
  requestsPerSecondMax: z.int().min(1).max(100_000).default(500),
  /** For all replicas together; by default half of the limits above, so that the other half is left for payments. */
  pollsPerSecondMax: z.number().min(0.1).max(100_000).optional(),
  /** For each replica. */
  pollConcurrencyMax: z.int().min(1).max(1_000).optional(),
  /** Whether it sends statements of its movements: its daily close is then the statement. */
  sendsStatements: z.boolean().default(false),
  breakerFailures: z.int().min(1).max(1_000).default(10),
  breakerOpenMs: z.int().min(100).max(600_000).default(5_000),
  /** The addresses that its callbacks may come from; an empty list allows any. */
  callbackAddresses: z.array(addressRangeSetting).default([]),
  callbacks: z.enum(['hint', 'proven']).default('hint'),
  /** If there are any, every callback must be signed with one of them. */
  callbackSecrets: z
    .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: 'must be a whsec_ secret' }))
    .default([]),
};

/** The settings of every rail as they are read. */
export type CommonSettings = z.output<z.ZodObject<typeof commonShape>>;

/** The settings of rails whose connector has payouts. */
export const payoutShape = {
  payoutFee: feeSchedule.default({ fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n }),
  payouts: z
    .array(payoutRoute)
    .default(defaultRoutes.map((route) => ({ ...route, channels: [...channels] }))),
};

/** The settings of rails whose connector has collections. */
export const collectionShape = {
  collectionFee: feeSchedule.default({ fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n }),
  operatorCodes: z.array(operatorCode).default(mobileOperators.map((mobileOperator) => mobileOperator.code)),
};

const absent = z.never({ error: 'the connector has no collections' }).optional();

/** In place of {@link collectionShape} for a connector without collections: refuses by name what would route them to it. */
export const noCollections = { collectionFee: absent, operatorCodes: absent };
