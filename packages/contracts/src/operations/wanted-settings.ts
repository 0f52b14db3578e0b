import { isCurrency } from '@pesewa/kernel';
import { z } from 'zod';
import { seenLine } from '../text.ts';
import { instant, numberBetween, smallNumber } from './lists.ts';
import { strictFields } from './operation.ts';

const URL_LENGTH_MAX = 1_800;

/** What a key may be for: requests to the payout API, or to the collection API (ADR 15). */
export const keyScopes = ['payouts', 'collections'] as const;

/** One of the {@link keyScopes}. */
export type KeyScope = (typeof keyScopes)[number];

/** What can be changed of a merchant; another operator must approve what could cost money (ADR 80). */
export const changeKinds = [
  'create',
  'wallet',
  'limits',
  'webhooks',
  'access',
  'signatures',
  'add-key',
  'remove-key',
  'suspend',
  'resume',
] as const;

/** The kind of a change of settings. */
export type ChangeKind = (typeof changeKinds)[number];

/** Fields of a change's body; others are refused by name. */
export const fields = <Shape extends z.ZodRawShape>(shape: Shape) => strictFields(shape, describeUnknown);

function describeUnknown(keys: readonly string[]): string {
  const identity = keys.find((key) => key === 'requestedBy' || key === 'approvedBy');
  if (identity !== undefined) return `${identity} must be left out: your token says who you are`;
  return `${keys.join(', ')} is no field of this change`;
}

const currency = z.string({ error: 'is required' }).refine(isCurrency, { error: 'must be an ISO 4217 code' });
const amount = z
  .string({ error: 'must be a decimal text' })
  .regex(/^\d{1,20}(?:\.\d{1,4})?$/, { error: 'must be a decimal text' });
const limitAmounts = z.record(currency, amount.nullable()).optional();
const webAddress = seenLine(URL_LENGTH_MAX).nullable().optional();
const publicKey = z.string({ error: 'must be a string' }).optional();

const fee = fields({
  percent: z.string().regex(/^(?:100(?:\.0{1,2})?|\d{1,2}(?:\.\d{1,2})?)$/, {
    error: 'must be a decimal text of 0 to 100',
  }),
  fixed: amount.optional(),
  min: amount.optional(),
  max: amount.optional(),
});

/** A price for moving money; its amounts are decimal text, and absent ones mean none. */
export type FeeBody = z.output<typeof fee>;

const wallet = { currency, country: seenLine(3), payoutFee: fee.optional(), collectionFee: fee.optional() };
/** The limits on amounts, by currency; null takes a limit away. */
const amountLimits = {
  perPayoutMin: limitAmounts,
  perPayoutMax: limitAmounts,
  perDayMax: limitAmounts,
  perBeneficiaryPerDayMax: limitAmounts,
  perCollectionMin: limitAmounts,
  perCollectionMax: limitAmounts,
  collectionsPerDayMax: limitAmounts,
};

/** One of the limits on amounts. */
export type AmountLimit = keyof typeof amountLimits;

const limits = {
  requestsPerSecond: smallNumber.optional(),
  nameEnquiriesPerMinute: smallNumber.optional(),
  collectionsPerNumberPerHour: smallNumber.optional(),
  /** Of payouts to one account within one UTC day; null takes the limit away. */
  payoutsPerBeneficiaryPerDay: smallNumber.nullable().optional(),
  ...amountLimits,
};

/** What each kind of change takes. */
export const wantedShapes = {
  create: {
    merchantId: seenLine(32),
    name: seenLine(140),
    wallets: z.array(fields(wallet)).max(20),
    limits: fields(limits),
    payoutsUrl: webAddress,
    collectionsUrl: webAddress,
    publicKey,
  },
  wallet,
  limits,
  webhooks: {
    payoutsUrl: webAddress,
    collectionsUrl: webAddress,
    rotateSecret: z.boolean().optional(),
    /** How long the secrets before a new one sign too, in hours; 24 if it is left out. */
    graceHours: numberBetween(0, 168).optional(),
  },
  access: { allowedAddresses: z.array(seenLine(50), { error: 'is required' }).max(64) },
  signatures: {
    /** Whether requests without a signature are refused. */
    required: z.boolean().optional(),
    addSecret: z.boolean().optional(),
    removeSecret: z
      .string()
      .regex(/^[0-9a-f]{12}$/, { error: "must be the first 12 digits of the secret's SHA-256 in hex" })
      .optional(),
  },
  'add-key': {
    publicKey,
    scopes: z.array(z.enum(keyScopes), { error: 'is required' }).min(1).max(keyScopes.length),
    expiresAt: instant.optional(),
  },
  'remove-key': {
    keyHash: z.string({ error: 'is required' }).regex(/^[0-9a-f]{12}(?:[0-9a-f]{52})?$/, {
      error: "must be the key's SHA-256 in hex, or its first 12 digits",
    }),
  },
  suspend: {},
  resume: {},
} as const satisfies Readonly<Record<ChangeKind, z.ZodRawShape>>;

/** What is wanted by a change of this kind. */
export type Wanted<Kind extends ChangeKind> = z.output<z.ZodObject<(typeof wantedShapes)[Kind]>>;
