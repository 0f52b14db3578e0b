import { describe, expect, test } from 'vitest';
import { allSchemas, fullName, type Identifiable } from '../index.ts';
import { eventIdentities, eventIdOf } from './identities.ts';

const published = allSchemas();

const event = (type: Identifiable['type'], payload: object, version = 1n) => ({ type, payload, version });

test('every event has an identity, made of fields that it has', () => {
  expect(Object.keys(eventIdentities).toSorted()).toEqual(published.map(fullName).toSorted());
  for (const schema of published) {
    const identity = eventIdentities[fullName(schema) as Identifiable['type']];
    if (identity === 'own') continue;
    const names = [...schema.fields.map(({ name }) => name), 'version'];
    expect(names).toEqual(expect.arrayContaining([...identity]));
    expect(identity).not.toContain('eventId');
  }
});

describe('the id of an event', () => {
  const submitted = { reference: 'po-1', attempt: 1, answer: 'acknowledged', refused: false, rail: 'a' };
  const idOf = (payload: object, version?: bigint) =>
    eventIdOf(event('pesewa.payouts.PayoutSubmitted', payload, version));

  test('is the same for the same event, and never changes', () => {
    expect(idOf({ ...submitted, occurredAt: 2n }, 9n)).toBe(idOf({ ...submitted, occurredAt: 1n }));
    // Ids are stored, so this one must never change.
    expect(idOf(submitted)).toMatchInlineSnapshot(`"ev-662f1c978fbb18ac22c49c4758356587"`);
  });

  test.each([
    { reference: 'po-2' },
    { attempt: 2 },
    { answer: 'unknown' },
    { answer: 'unknown', refused: true },
  ])('is another where %j differs', (change) => {
    expect(idOf({ ...submitted, ...change })).not.toBe(idOf(submitted));
  });

  test('is another for another type', () => {
    const payload = { reference: 'po-1' };
    const types = ['pesewa.ledger.HoldPlaced', 'pesewa.ledger.HoldRefused'] as const;
    expect(new Set(types.map((type) => eventIdOf(event(type, payload)))).size).toBe(2);
  });

  test('is another for another version where that counts', () => {
    const payload = { breakId: 'br-1' };
    const ids = [1n, 2n].map((version) =>
      eventIdOf(event('pesewa.reconciliation.BreakOpened', payload, version)),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('does not mix up what stands in neighbouring fields', () => {
    const payloads = [
      { chain: 'a', number: 'b 1:c', hash: '1' },
      { chain: 'a 5:b', number: 'c', hash: '1' },
      { chain: 'a', number: 11n, hash: '1' },
      { chain: 'a', number: 1n, hash: '11' },
      { chain: null, number: 1n, hash: '11' },
      { chain: 'null', number: 1n, hash: '11' },
    ];
    const ids = payloads.map((payload) => eventIdOf(event('pesewa.ledger.PageWritten', payload)));
    expect(new Set(ids).size).toBe(payloads.length);
  });

  test('is refused where a part is missing, or where the event brings its own', () => {
    expect(() => eventIdOf(event('pesewa.ledger.HoldPlaced', {}))).toThrow(TypeError);
    expect(() => eventIdOf(event('pesewa.ledger.FundWallet', { eventId: 'cm-1' }))).toThrow(TypeError);
  });
});
