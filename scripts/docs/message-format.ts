/** A part that every message has, as consumers must know it. */
export interface CommonPart {
  readonly name: string;
  readonly meaning: string;
}

/** A header of messages; its value is UTF-8 text. */
interface Header extends CommonPart {
  /** JSON Schema's pattern of the value. */
  readonly pattern: string;
  readonly isOptional?: true;
}

/** The headers of every message. */
export const messageHeaders: readonly Header[] = [
  {
    name: 'event-id',
    pattern: '.+',
    meaning:
      "Derived from the event's type and some of its fields, so that the same event published again has the same id, even after a restore from a backup. Delivery is at least once: drop the ids that you have seen.",
  },
  { name: 'event-type', pattern: '^pesewa\\.[a-z]+\\.[A-Za-z]+$', meaning: 'The full record name.' },
  {
    name: 'aggregate-version',
    pattern: '^[0-9]+$',
    meaning:
      "A whole number: the payment's version; on ledger.events and wallets.balances the wallet's sequence (0 for a collection that its fee takes whole); on reconciliation.events the break's version; on rails.availability its time in milliseconds; else 0. The newer of two events has the higher one. Events arrive in the order in which a process committed them; after a crash those of another process may overtake them.",
  },
  {
    name: 'traceparent',
    pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    meaning:
      "As in [W3C Trace Context](https://www.w3.org/TR/trace-context/): the trace of the merchant's request, if it had one, for everything about its payment; else a new trace.",
  },
  {
    name: 'causation-id',
    pattern: '.+',
    isOptional: true,
    meaning:
      'The `event-id` of the event that caused it. It is missing only if the cause was a request from outside, or a time at which we check something ourselves.',
  },
];

/** What a consumer must know of a message besides its headers. */
export const messageParts: readonly CommonPart[] = [
  {
    name: 'Topic',
    meaning: "The installation's `TOPIC_PREFIX`, which is empty by default, and the name that is given here.",
  },
  {
    name: 'Key',
    meaning: 'UTF-8 text without a schema; messages with the same key are in the same partition.',
  },
  {
    name: 'Partition',
    meaning:
      "As Kafka's Java client chooses it: murmur2 of the key, without the sign bit, modulo the partition count, which never changes.",
  },
  {
    name: 'Value',
    meaning:
      'Avro in the wire format of the Confluent registry: a zero byte, four bytes of schema id with the highest first, the record in binary Avro.',
  },
  {
    name: 'Schema',
    meaning:
      'Registered under `<topic>-<full record name>` as FULL_TRANSITIVE: only a field with a default may be added or dropped.',
  },
  { name: 'Amounts', meaning: "Whole minor units of the event's currency." },
  { name: 'Times', meaning: 'Milliseconds since the epoch, UTC.' },
];
