import avro from 'avsc';
import { Binary, type Collection } from 'mongodb';

/** A message as it will stand in Kafka; its bytes are born in the transaction. */
export interface EncodedMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** All the messages of one transaction. */
export interface Bundle {
  /** `<source>#<sequence>`, further parts with `.<part>`: sorts by sequence within its source. */
  readonly _id: string;
  readonly messages: readonly EncodedMessage[];
  readonly createdAt: Date;
}

/** A bundle as MongoDB holds it: one document, its messages packed, deleted once they are sent. */
export interface BundleDocument {
  readonly _id: string;
  readonly createdAt: Date;
  /** How many messages are packed. */
  readonly count: number;
  readonly packed: Binary;
}

/** Packed, because thousands of small fields cost the server and us more than the messages themselves. */
const packing = avro.Type.forSchema({
  type: 'array',
  items: {
    type: 'record',
    name: 'Message',
    fields: [
      { name: 'topic', type: 'string' },
      { name: 'key', type: 'string' },
      { name: 'value', type: 'bytes' },
      { name: 'headers', type: { type: 'map', values: 'string' } },
    ],
  },
});

/** A bundle as it is stored. */
export function packBundle({ _id, messages, createdAt }: Bundle): BundleDocument {
  return { _id, createdAt, count: messages.length, packed: new Binary(packing.toBuffer(messages)) };
}

/** A bundle as it was before it was stored. */
export function unpackBundle({ _id, createdAt, packed }: BundleDocument): Bundle {
  const messages = packing.fromBuffer(Buffer.from(packed.buffer)) as readonly EncodedMessage[];
  return { _id, createdAt, messages };
}

/** The outbox of a service. */
export type Outbox = Collection<BundleDocument>;

const SEQUENCE_DIGITS = 16;
const PART_DIGITS = 4;

/** The id of a bundle: unique by source, sequence and part, and sorted by them. */
export function bundleId(source: string, sequence: number, part = 0): string {
  const id = `${source}#${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`;
  return part === 0 ? id : `${id}.${String(part).padStart(PART_DIGITS, '0')}`;
}

/** Below what a broker takes for one batch of one partition (1 MiB), even if all of it goes to one. */
export const BUNDLE_BYTES_MAX = 900 * 1_024;

/** What a message takes beside its value: key, headers and framing, at most. */
const OVERHEAD_BYTES = 256;

/** What messages take on their way to Kafka, at most. */
export function sizeOf(messages: readonly Pick<EncodedMessage, 'value'>[]): number {
  return messages.reduce((sum, { value }) => sum + value.length + OVERHEAD_BYTES, 0);
}

/** Cuts the messages of a transaction into bundles that a broker takes, in their order. */
export function cutBundles(
  origin: { readonly source: string; readonly sequence: number },
  messages: readonly EncodedMessage[],
  createdAt: Date,
): readonly Bundle[] {
  const parts: EncodedMessage[][] = [];
  let room = 0;
  for (const message of messages) {
    const bytes = sizeOf([message]);
    const part = parts.at(-1);
    if (part !== undefined && bytes <= room) part.push(message);
    else {
      parts.push([message]);
      room = BUNDLE_BYTES_MAX;
    }
    room -= bytes;
  }
  return parts.map((part, index) => ({
    _id: bundleId(origin.source, origin.sequence, index),
    messages: part,
    createdAt,
  }));
}

/** The source of a process's group commits of one name; a partition's source is its group, topic and number. */
export function commitSource(name: string, owner: string): string {
  return `commit/${name}/${owner}`;
}

/** Whether the sweeper stands behind a bundle; a partition's bundle has none but the partition's owner. */
export function isSwept(id: string): boolean {
  return id.startsWith('commit/');
}

/** The filter of the bundles of all group commits: those that no partition's next owner takes over. */
export const commitBundles = { _id: { $gte: 'commit/', $lt: 'commit0' } };

/** The filter of all bundles of one source. */
export function bundlesOf(source: string) {
  return { _id: { $gte: `${source}#`, $lt: `${source}$` } };
}
