import type { CollectionSchema } from '@pesewa/messaging';

const text = { bsonType: 'string' } as const;
/** 64-bit integers: without the check a JavaScript number would silently be stored as a double. */
const whole = { bsonType: 'long', minimum: 0 } as const;

const schemas = {
  entries: {
    required: ['debit', 'credit', 'amount', 'currency', 'kind', 'reference', 'causationId', 'at'],
    properties: {
      _id: text,
      debit: text,
      credit: text,
      currency: text,
      kind: text,
      reference: text,
      causationId: text,
      amount: { bsonType: 'long', minimum: 1 },
      wallet: text,
      walletSequence: whole,
      availableAfter: whole,
      heldAfter: whole,
      fee: whole,
      rail: text,
      at: { bsonType: 'date' },
    },
  },
  wallets: {
    required: ['merchantId', 'currency', 'available', 'held', 'sequence', 'at'],
    properties: {
      _id: text,
      merchantId: text,
      currency: text,
      available: whole,
      held: whole,
      sequence: whole,
      at: { bsonType: 'date' },
    },
  },
  refusals: {
    required: ['merchantId', 'currency', 'amount', 'fee', 'rail', 'causationId', 'sequence', 'at'],
    properties: {
      _id: text,
      merchantId: text,
      currency: text,
      amount: whole,
      fee: whole,
      rail: text,
      causationId: text,
      sequence: whole,
      at: { bsonType: 'date' },
    },
  },
  refusedOrders: {
    required: ['merchantId', 'currency', 'amount', 'reason', 'causationId', 'sequence', 'at'],
    properties: {
      _id: text,
      merchantId: text,
      currency: text,
      amount: whole,
      reason: text,
      causationId: text,
      sequence: whole,
      at: { bsonType: 'date' },
    },
  },
  accounts: {
    required: ['account', 'debits', 'credits'],
    properties: { _id: text, account: text, debits: whole, credits: whole },
  },
  pages: {
    required: ['chain', 'number', 'at', 'previous', 'hash', 'entries', 'accounts'],
    properties: {
      _id: text,
      chain: text,
      number: { bsonType: 'long', minimum: 1 },
      at: { bsonType: 'date' },
      previous: { bsonType: 'binData' },
      hash: { bsonType: 'binData' },
      entries: { bsonType: 'array', minItems: 1, items: text },
      accounts: {
        bsonType: 'array',
        items: {
          bsonType: 'object',
          required: ['account', 'debits', 'credits', 'debitsAfter', 'creditsAfter'],
          properties: {
            account: text,
            debits: whole,
            credits: whole,
            debitsAfter: whole,
            creditsAfter: whole,
          },
        },
      },
    },
  },
  commands: {
    required: ['kind', 'target', 'currency', 'amount', 'requestedBy', 'at', 'status'],
    properties: {
      _id: text,
      kind: text,
      target: text,
      currency: text,
      amount: { bsonType: 'long', minimum: 1 },
      direction: text,
      reason: text,
      requestedBy: text,
      at: { bsonType: 'date' },
      status: { enum: ['proposed', 'approved', 'rejected'] },
      decidedBy: text,
      decidedAt: { bsonType: 'date' },
      decisionReason: text,
    },
  },
};

const refusing = (schema: object) => ({ $jsonSchema: { bsonType: 'object', ...schema } });

/**
 * The collections of the ledger's database; their validators make the server itself refuse money that is not an
 * integer.
 */
export const ledgerCollections: readonly CollectionSchema[] = [
  // A wallet's entries in order: the time never decreases. Not unique, because the wallet itself counts.
  {
    name: 'entries',
    validator: refusing(schemas.entries),
    indexes: [{ key: { wallet: 1, at: 1, walletSequence: 1 } }],
  },
  { name: 'wallets', validator: refusing(schemas.wallets) },
  { name: 'refusals', validator: refusing(schemas.refusals) },
  { name: 'refusedOrders', validator: refusing(schemas.refusedOrders) },
  { name: 'accounts', validator: refusing(schemas.accounts) },
  // The pages of a shared account, in each chain's order.
  {
    name: 'pages',
    validator: refusing(schemas.pages),
    indexes: [{ key: { 'accounts.account': 1, chain: 1, at: 1, _id: 1 } }],
  },
  // The operators' orders, the newest first: all, or those of one status.
  {
    name: 'commands',
    validator: refusing(schemas.commands),
    indexes: [{ key: { at: -1, _id: -1 } }, { key: { status: 1, at: -1, _id: -1 } }],
  },
  { name: 'left_out' },
  { name: 'coming_forward' },
];
