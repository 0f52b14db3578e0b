import type { KafkaMessage } from '@pesewa/kafka';
import { ignoreAllEvents } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { type Codec, type Decoded, UndecodableError } from '../schemas/codec.ts';
import { handleTopic, readMessages } from './topic-handler.ts';

const DRIFT = 'pesewa.reconciliation.DriftMeasured';
const done = () => Promise.resolve();

/** A codec whose values are only the names of their types. */
const codec: Pick<Codec, 'decode' | 'decodeKnown'> = {
  decode: (bytes) => Promise.resolve(decodeName(bytes)),
  decodeKnown: decodeName,
};

function decodeName(bytes: Buffer): Decoded {
  const type = bytes.toString();
  if (type === '') throw new UndecodableError('no bytes');
  return { type, payload: { eventId: 'ev-of-payload' } };
}

function message(offset: number, eventType: string | undefined, value = eventType ?? ''): KafkaMessage {
  const headers = eventType === undefined ? {} : { 'event-type': eventType };
  const rest = { timestamp: '0', attributes: 0, key: Buffer.from('k') };
  return { ...rest, offset: String(offset), value: Buffer.from(value), headers };
}

const handler = handleTopic(
  'reconciliation',
  { ...ignoreAllEvents('reconciliation'), [DRIFT]: 'handled' },
  done,
);

const kindsOf = async (...messages: readonly KafkaMessage[]) =>
  (await readMessages(messages, handler, codec as Codec)).map((reading) => [
    reading.kind,
    Number(reading.offset),
  ]);

it('a handler says of every type of its topic whether it handles or ignores it, or does not compile', () => {
  const all = {
    'pesewa.payouts.PayoutAccepted': 'handled',
    'pesewa.payouts.PayoutSubmitted': 'ignored',
    'pesewa.payouts.PayoutCompleted': 'handled',
    'pesewa.payouts.PayoutFailed': 'ignored',
  } as const;
  const reversed = 'pesewa.payouts.PayoutReversed';
  const { types } = handleTopic('payouts', { ...all, [reversed]: 'ignored' }, async (events) => {
    for (const event of events) {
      const type: 'pesewa.payouts.PayoutAccepted' | 'pesewa.payouts.PayoutCompleted' = event.type;
      // @ts-expect-error an event of an ignored type never comes
      expect(type).not.toBe(event.type === reversed);
    }
    return done();
  });
  expect(types).toEqual(['pesewa.payouts.PayoutAccepted', 'pesewa.payouts.PayoutCompleted']);
  // @ts-expect-error a type of the topic is missing
  handleTopic('payouts', all, done);
  const more = { ...all, [reversed]: 'ignored', 'pesewa.payouts.PayoutForgotten': 'ignored' } as const;
  // @ts-expect-error no such type travels on the topic
  handleTopic('payouts', more, done);
});

it('what is handled is read, what is ignored is skipped undecoded', async () => {
  const ignored = message(1, 'pesewa.reconciliation.BreakOpened', '');
  expect(await kindsOf(message(0, DRIFT), ignored, message(2, DRIFT))).toEqual([
    ['event', 0],
    ['event', 2],
  ]);
});

it('a type that this version does not know is no poison: it waits for the version that does', async () => {
  const later = message(3, 'pesewa.reconciliation.OwnLossFound');
  const nameless = message(4, undefined);
  const broken = message(5, DRIFT, '');
  const other = message(6, DRIFT, 'pesewa.reconciliation.BreakOpened');
  expect(await kindsOf(later, nameless, broken, other)).toEqual([
    ['unknown', 3],
    ['poison', 4],
    ['poison', 5],
    ['poison', 6],
  ]);
});
