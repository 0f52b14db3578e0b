import type { CollectionSchema } from '@pesewa/messaging';

const text = { bsonType: 'string' } as const;
/** 64-bit integers: without the check a JavaScript number would silently be stored as a double. */
const whole = { bsonType: 'long', minimum: 0 } as const;

const positive = { bsonType: 'long', minimum: 1 } as const;
const date = { bsonType: 'date' } as const;

/** An object with these fields; the optional ones may be absent. */
const object = (fields: object, optional: object = {}) => ({
  bsonType: 'object',
  required: Object.keys(fields),
  properties: { ...fields, ...optional },
});
/** What a document must be, or the server refuses it. */
const refusing = (fields: object, optional: object = {}) => ({
  $jsonSchema: object(fields, { _id: text, ...optional }),
});

const posting = {
  kind: text,
  reference: text,
  causationId: text,
  currency: text,
  entries: {
    bsonType: 'array',
    minItems: 1,
    items: object({ kind: text, debit: text, credit: text, amount: positive }),
  },
  at: date,
};
const wallet = { merchantId: text, currency: text, available: whole, held: whole, sequence: whole, at: date };
const refusal = {
  merchantId: text,
  currency: text,
  amount: whole,
  reason: text,
  causationId: text,
  sequence: whole,
  at: date,
};
const page = {
  chain: text,
  number: positive,
  at: date,
  previous: { bsonType: 'binData' },
  hash: { bsonType: 'binData' },
  postings: { bsonType: 'array', minItems: 1, items: text },
  accounts: {
    bsonType: 'array',
    items: object({
      account: text,
      debits: whole,
      credits: whole,
      debitsAfter: whole,
      creditsAfter: whole,
    }),
  },
};
const command = {
  kind: text,
  target: text,
  currency: text,
  amount: positive,
  requestedBy: text,
  at: date,
  status: { enum: ['proposed', 'approved', 'rejected'] },
};

/**
 * The collections of the ledger's database; their validators make the server itself refuse money that is not an
 * integer.
 */
export const ledgerDatabaseSchema: readonly CollectionSchema[] = [
  // A wallet's postings in order: the time never decreases. Not unique, because the wallet itself counts.
  {
    name: 'postings',
    validator: refusing(posting, {
      wallet: text,
      walletSequence: whole,
      availableAfter: whole,
      heldAfter: whole,
      fee: whole,
      rail: text,
    }),
    indexes: [{ key: { wallet: 1, at: 1, walletSequence: 1 } }],
  },
  { name: 'wallets', validator: refusing(wallet) },
  {
    name: 'refusals',
    validator: refusing(refusal, { fee: whole, rail: text }),
  },
  { name: 'accounts', validator: refusing({ account: text, debits: whole, credits: whole }) },
  // The pages of a shared account, in each chain's order.
  {
    name: 'pages',
    validator: refusing(page),
    indexes: [{ key: { 'accounts.account': 1, chain: 1, at: 1, _id: 1 } }],
  },
  // The operators' orders, the newest first: all, or those of one status.
  {
    name: 'commands',
    validator: refusing(command, {
      direction: text,
      reason: text,
      breakId: text,
      decidedBy: text,
      decidedAt: date,
      decisionReason: text,
    }),
    indexes: [
      { key: { at: -1, _id: -1 } },
      { key: { status: 1, at: -1, _id: -1 } },
      { key: { breakId: 1, at: -1, _id: -1 } },
      // One proposal for a break at a time: two that are approved would correct it twice.
      {
        key: { breakId: 1 },
        unique: true,
        partialFilterExpression: { status: 'proposed', breakId: { $exists: true } },
      },
    ],
  },
  { name: 'left_out' },
  { name: 'coming_forward' },
];
