import { describe, expect, it } from 'vitest';
import { checkServer, type FoundServer } from './database-checks.ts';
import { type CollectionSchema, databaseSchemaOf, type FoundCollection } from './schema.ts';

const declared: readonly CollectionSchema[] = [
  {
    name: 'payments',
    validator: { $jsonSchema: { required: ['amount'] } },
    indexes: [
      { key: { reference: 1 }, unique: true, partialFilterExpression: { open: true } },
      { key: { rail: 1, dueAt: 1 } },
      { key: { forgetAt: 1 }, expireAfterSeconds: 0 },
      { key: { forgetAt: 1 }, expireAfterSeconds: 9, partialFilterExpression: { open: false } },
    ],
  },
  { name: 'refused', capped: { bytes: 4_096, documents: 10 } },
];

const payments: FoundCollection = {
  name: 'payments',
  options: { validator: { $jsonSchema: { required: ['amount'] } } },
  indexes: [
    { key: { _id: 1 }, name: '_id_' },
    { key: { reference: 1 }, unique: true, partialFilterExpression: { open: true } },
    { key: { rail: 1, dueAt: 1 } },
    { key: { forgetAt: 1 }, expireAfterSeconds: 0 },
    { key: { forgetAt: 1 }, expireAfterSeconds: 9, partialFilterExpression: { open: false } },
  ],
};
const refused: FoundCollection = { name: 'refused', options: { capped: true }, indexes: [] };

const safe: FoundServer = {
  hello: { setName: 'rs0' },
  transactionLifetimeS: 5,
  database: 'hub_payouts',
  collections: [payments, refused],
};

const problemsWith = (found: Partial<FoundServer>) =>
  checkServer({ ...safe, ...found }, declared).problems.map(({ message }) => message);

const indexesAs = (change: (index: FoundCollection['indexes'][number]) => object | undefined) =>
  problemsWith({
    collections: [
      { ...payments, indexes: payments.indexes.flatMap((index) => (change(index) as typeof index) ?? []) },
      refused,
    ],
  });

describe('a server', () => {
  it('that has all that is declared is accepted, whatever else it has', () => {
    const more = { ...payments, indexes: [...payments.indexes, { key: { other: 1 } }] };
    expect(checkServer({ ...safe, collections: [more, refused] }, declared)).toEqual({
      problems: [],
      unchecked: [],
    });
  });

  it('that stands alone is refused; what stands before a sharded cluster is not', () => {
    expect(problemsWith({ hello: {} })).toEqual([expect.stringMatching(/no replica set/)]);
    expect(problemsWith({ hello: { msg: 'isdbgrid' } })).toEqual([]);
  });

  it('that lets transactions live for long is refused; one that does not say is named', () => {
    expect(problemsWith({ transactionLifetimeS: 10 })).toEqual([]);
    expect(problemsWith({ transactionLifetimeS: 60 })).toEqual([expect.stringMatching(/is 60: a killed/)]);
    const { problems, unchecked } = checkServer({ ...safe, transactionLifetimeS: undefined }, declared);
    expect(problems).toEqual([]);
    expect(unchecked).toEqual([expect.stringMatching(/is not known/)]);
  });
});

describe('a collection', () => {
  it('that is missing is one problem, be it one of the road to Kafka', () => {
    expect(problemsWith({ collections: [refused] })).toEqual([
      'MongoDB: hub_payouts.payments does not exist',
    ]);
    const all = checkServer(safe, databaseSchemaOf(declared)).problems.map(({ message }) => message);
    expect(all).toContain('MongoDB: hub_payouts.outbox does not exist');
  });

  it('must refuse what is declared, and have its bounds', () => {
    const open = { ...payments, options: { validator: {} } };
    expect(problemsWith({ collections: [open, { ...refused, options: {} }] })).toEqual([
      expect.stringMatching(/payments does not refuse/),
      expect.stringMatching(/refused has no bounds/),
    ]);
  });

  it('must have its indexes, of the same fields in the same order, unique where they are declared so', () => {
    expect(indexesAs(() => undefined)).toHaveLength(4);
    const missing = indexesAs((index) => ('rail' in index.key ? { key: { dueAt: 1, rail: 1 } } : index));
    expect(missing).toEqual(['MongoDB: hub_payouts.payments: the index rail:1,dueAt:1 is missing']);
    const shared = indexesAs(({ unique: _unique, ...index }) => index);
    expect(shared).toEqual(['MongoDB: hub_payouts.payments: the index reference:1 is not unique']);
    const wider = indexesAs(({ partialFilterExpression: filter, ...index }) =>
      'reference' in index.key || !filter ? index : { ...index, partialFilterExpression: filter },
    );
    expect(wider).toEqual(['MongoDB: hub_payouts.payments: the index reference:1 is another one']);
    const kept = indexesAs(({ expireAfterSeconds: _after, ...index }) => index);
    const another = 'MongoDB: hub_payouts.payments: the index forgetAt:1 is another one';
    expect(kept).toEqual([another, another]);
  });
});
