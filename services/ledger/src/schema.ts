import { type Db, type Document, MongoServerError } from 'mongodb';

const text = { bsonType: 'string' } as const;
/** 64-bit whole numbers: a double would pass silently where a driver writes a JS number. */
const whole = { bsonType: 'long', minimum: 0 } as const;

const validators: Readonly<Record<string, Document>> = {
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
      fee: whole,
      rail: text,
      at: { bsonType: 'date' },
    },
  },
  wallets: {
    required: ['merchantId', 'currency', 'available', 'held', 'sequence'],
    properties: {
      _id: text,
      merchantId: text,
      currency: text,
      available: whole,
      held: whole,
      sequence: whole,
    },
  },
  refusals: {
    required: ['merchantId', 'currency', 'amount', 'fee', 'rail'],
    properties: { _id: text, merchantId: text, currency: text, amount: whole, fee: whole, rail: text },
  },
  accounts: {
    required: ['account', 'debits', 'credits'],
    properties: { _id: text, account: text, debits: whole, credits: whole },
  },
  commands: {
    required: ['kind', 'target', 'currency', 'amount', 'requestedBy', 'at'],
    properties: { _id: text, kind: text, target: text, currency: text, amount: whole, requestedBy: text },
  },
};

const NAMESPACE_EXISTS = 48;

/** Creates the collections with their validators, so that the server itself refuses money that is no whole number. */
export async function createCollections(db: Db): Promise<void> {
  for (const [name, schema] of Object.entries(validators)) {
    const validator = { $jsonSchema: { bsonType: 'object', ...schema } };
    try {
      await db.createCollection(name, { validator });
    } catch (error) {
      if (!(error instanceof MongoServerError) || error.code !== NAMESPACE_EXISTS) throw error;
      await db.command({ collMod: name, validator });
    }
  }
  // A wallet's entries in their order. Not unique: the wallet itself counts.
  await db.collection('entries').createIndex({ wallet: 1, walletSequence: 1 });
}
