import { describe, expect, test } from 'vitest';
import { allSchemas, fullName, type Identifiable, parkedTopic } from '../index.ts';
import { eventIdentities, eventIdOf } from './identities.ts';

const published = [...allSchemas(), ...parkedTopic('any').events];

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
  const submitted = { reference: 'po-1', attempt: 1, answer: 'accepted', refused: false, rail: 'a' };
  const idOf = (payload: object, version?: bigint) =>
    eventIdOf(event('pesewa.payouts.PayoutSubmitted', payload, version));

  test('is the same for the same event, and never changes', () => {
    expect(idOf({ ...submitted, occurredAt: 2n }, 9n)).toBe(idOf({ ...submitted, occurredAt: 1n }));
    // Ids are stored, so this one must never change.
    expect(idOf(submitted)).toMatchInlineSnapshot(`"ev-d348658f7822b391c7d184a0fe34cf06"`);
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
      { consumerGroup: 'a', topic: 'b 1:c', partition: 1, offset: 1n },
      { consumerGroup: 'a 5:b', topic: 'c', partition: 1, offset: 1n },
      { consumerGroup: 'a', topic: 'b', partition: 11, offset: 1n },
      { consumerGroup: 'a', topic: 'b', partition: 1, offset: 11n },
      { consumerGroup: 'a', topic: null, partition: 1, offset: 11n },
      { consumerGroup: 'a', topic: 'null', partition: 1, offset: 11n },
    ];
    const ids = payloads.map((payload) => eventIdOf(event('pesewa.messaging.MessageParked', payload)));
    expect(new Set(ids).size).toBe(payloads.length);
  });

  test('is refused where a part is missing, or where the event brings its own', () => {
    expect(() => eventIdOf(event('pesewa.ledger.HoldPlaced', {}))).toThrow(TypeError);
    expect(() => eventIdOf(event('pesewa.ledger.FundWallet', { eventId: 'cm-1' }))).toThrow(TypeError);
  });
});
