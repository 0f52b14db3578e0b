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
const limitAmounts = (what: string) =>
  z
    .record(currency, amount.nullable())
    .optional()
    .describe(`${what}, as GHS:5000, or GHS:none; may be given several times`);
const webAddress = (what: string) =>
  seenLine(URL_LENGTH_MAX).nullable().optional().describe(`address of ${what} webhooks, or none`);
const publicKey = z
  .string({ error: 'must be a string' })
  .optional()
  .describe('the key: 16 to 128 letters, digits, - and _ (default: a new one)');

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

const FEE = '1.5% or percent=1.5,fixed=0.50,min=0.10,max=100';
const wallet = {
  currency: currency.describe('ISO 4217 code'),
  country: seenLine(3).describe('name or ISO 3166 code'),
  payoutFee: fee.optional().describe(`price of a payout: ${FEE}`),
  collectionFee: fee.optional().describe(`price of a collection: ${FEE}`),
};
/** The limits on amounts, by currency; null takes a limit away. */
const amountLimits = {
  perPayoutMin: limitAmounts('smallest single payout'),
  perPayoutMax: limitAmounts('largest single payout'),
  perDayMax: limitAmounts('most that is accepted for payouts in one UTC day'),
  perBeneficiaryPerDayMax: limitAmounts('most for payouts to one account in one UTC day'),
  perCollectionMin: limitAmounts('smallest collection'),
  perCollectionMax: limitAmounts('largest collection'),
  collectionsPerDayMax: limitAmounts('most that is accepted for collections in one UTC day'),
};

/** One of the limits on amounts. */
export type AmountLimit = keyof typeof amountLimits;

const limits = {
  requestsPerSecond: smallNumber.optional().describe('how many requests it may send'),
  nameEnquiriesPerMinute: smallNumber.optional().describe('how many name enquiries it may make'),
  collectionsPerNumberPerHour: smallNumber
    .optional()
    .describe("how often it may ask one customer's number to pay; 1000000 is no limit"),
  payoutsPerBeneficiaryPerDay: smallNumber
    .nullable()
    .optional()
    .describe('how many payouts to one account are accepted in one UTC day, or none for no limit'),
  ...amountLimits,
};

/** What each kind of change takes. */
export const wantedShapes = {
  create: {
    merchantId: seenLine(32).describe('its id: 2 to 32 of a-z, 0-9, -'),
    name: seenLine(140).describe('its name'),
    wallets: z.array(fields(wallet)).max(20),
    limits: fields(limits),
    payoutsUrl: webAddress('payout'),
    collectionsUrl: webAddress('collection'),
    publicKey,
  },
  wallet,
  limits,
  webhooks: {
    payoutsUrl: webAddress('payout'),
    collectionsUrl: webAddress('collection'),
    rotateSecret: z
      .boolean()
      .optional()
      .describe(
        'make a new secret and show it now; webhooks are also signed with the one before it for a grace time',
      ),
    graceHours: numberBetween(0, 168)
      .optional()
      .describe(
        'with a new secret: how long, up to 168 hours; 0 ends the one before it at once (default: 24)',
      ),
  },
  access: {
    allowedAddresses: z
      .array(seenLine(50), { error: 'is required' })
      .max(64)
      .describe('addresses and CIDR ranges, separated by commas, in place of the present ones; or any'),
  },
  signatures: {
    required: z
      .boolean()
      .optional()
      .describe('required: refuse requests without a right signature; optional: take them'),
    addSecret: z.boolean().optional().describe('make a new secret and show it now; two may live at a time'),
    removeSecret: z
      .string()
      .regex(/^[0-9a-f]{12}$/, { error: "must be the first 12 digits of the secret's SHA-256 in hex" })
      .optional()
      .describe('end a secret at once: the first 12 digits of its SHA-256, as the settings show'),
  },
  'add-key': {
    publicKey,
    scopes: z
      .array(z.enum(keyScopes), { error: 'is required' })
      .min(1)
      .max(keyScopes.length)
      .describe('what the key is for'),
    expiresAt: instant
      .optional()
      .describe('when it ends, as 2026-11-01 or 2026-11-01T08:00:00Z (default: never)'),
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
