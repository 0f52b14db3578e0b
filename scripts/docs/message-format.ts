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
      "Derived from the event's type and from what is named with it here, so that the same thing published again is the same event, even by a service that was restored from a backup. Delivery is at least once: drop what you have seen by it.",
  },
  { name: 'event-type', pattern: '^pesewa\\.[a-z]+\\.[A-Za-z]+$', meaning: 'The full record name.' },
  {
    name: 'aggregate-version',
    pattern: '^[0-9]+$',
    meaning:
      "A whole number in decimal digits: the payment's version; on ledger.events and wallets.balances the wallet's sequence (0 for a collection that its fee takes whole), on reconciliation.events the break's version; else 0. It says which of two events is newer: what one process commits comes in its order, and after a crash another one may be ahead of it.",
  },
  {
    name: 'traceparent',
    pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    meaning:
      "As in [W3C Trace Context](https://www.w3.org/TR/trace-context/): that of the merchant's request for everything about its payment, where the request had one; a new trace otherwise.",
  },
  {
    name: 'causation-id',
    pattern: '.+',
    isOptional: true,
    meaning:
      'The `event-id` of the event that caused it. It is missing only where the cause was a request from outside, or a time at which we look for ourselves.',
  },
];

/** What a consumer must know of a message besides its headers. */
export const messageParts: readonly CommonPart[] = [
  {
    name: 'Topic',
    meaning:
      "The name that is given here, after the installation's `TOPIC_PREFIX`, which is empty unless it is set.",
  },
  {
    name: 'Key',
    meaning: 'UTF-8 text without a schema; messages with the same key are in the same partition.',
  },
  {
    name: 'Partition',
    meaning:
      "murmur2 of the key's bytes, without the sign bit, modulo the partition count, as Kafka's own Java client does it; partition counts never change.",
  },
  {
    name: 'Value',
    meaning:
      'Avro in the wire format of the Confluent registry: a zero byte, four bytes of schema id with the highest first, the record in binary Avro.',
  },
  {
    name: 'Schema',
    meaning:
      'Registered under `<topic>-<full record name>`; every subject is FULL_TRANSITIVE, so a field may only be added or dropped where it has a default.',
  },
  { name: 'Amounts', meaning: "Whole minor units of the event's currency." },
  { name: 'Times', meaning: 'Milliseconds since the epoch, UTC.' },
];
