import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { compileFunction } from 'node:vm';
import { encodeRecordBody } from '@pesewa/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import './kafkajs-patches.ts';
import { encodeProduce } from './produce-encoder.ts';

const require = createRequire(import.meta.url);

interface Encoder {
  readonly buffer: Buffer;
}

/** The original export of a kafkajs file, read from the file because the loaded one is patched. */
function original<Export>(file: string): Export {
  const path = require.resolve(`kafkajs/src/${file}`);
  const requireThere = createRequire(path);
  const module: { exports: unknown } = { exports: {} };
  const unpatched = (name: string): unknown =>
    name.startsWith('.') && !name.endsWith('errors') ? original(relativeTo(path, name)) : requireThere(name);
  const run: unknown = compileFunction(readFileSync(path, 'utf8'), ['module', 'require', 'exports']);
  (run as (...parameters: unknown[]) => void)(module, unpatched, module.exports);
  return module.exports as Export;
}

const relativeTo = (path: string, name: string): string => {
  const resolved = createRequire(path).resolve(name);
  return resolved.slice(resolved.indexOf('kafkajs/src/') + 'kafkajs/src/'.length);
};

const patched = <Export>(file: string): Export => require(`kafkajs/src/${file}`) as Export;

type CreateProduce = (input: object) => { readonly encode: () => Promise<Encoder> };
type CreateRequest = (wire: object) => Promise<Encoder>;
type DecodeBatch = (decoder: object) => Promise<object>;

const PRODUCE = 'protocol/requests/produce/v7/request';

const manyHeaders = {
  'event-id': `ev-${'0'.repeat(32)}`,
  'event-type': 'pesewa.ledger.HoldPlaced',
  twice: ['x', Buffer.from('y'), 'z'],
  ü: '',
};

const messages = [
  { value: Buffer.from('v'), key: 'k' },
  { value: Buffer.alloc(0), key: null },
  { value: null, key: 'tombstone' },
  { value: 'text', key: Buffer.from([0, 255, 128]) },
  { value: Buffer.alloc(127, 1), key: 'ö€😀' },
  { value: Buffer.alloc(5_000, 7), key: 'k'.repeat(200) },
  { value: 'v', key: 'k', headers: manyHeaders },
  ...Array.from({ length: 9_000 }, (_, index) => ({ key: `w-${index}`, value: `value ${index}` })),
];

const topicData = [
  { topic: 'first', partitions: [{ partition: 0, messages }] },
  {
    topic: 'zweites-thema-ü',
    partitions: [
      { partition: 11, messages: messages.slice(0, 7) },
      { partition: 3, messages: messages.slice(6, 7) },
    ],
  },
].map(({ topic, partitions }) => ({
  topic,
  partitions: partitions.map((entry) => ({ ...entry, firstSequence: 0 })),
}));

const plain = { acks: -1, timeout: 30_000, producerId: -1, producerEpoch: 0, topicData };

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_123 });
});

afterEach(() => {
  vi.useRealTimers();
});

const hex = async (encoder: Promise<Encoder>) => (await encoder).buffer.toString('hex');

it('writes a Produce request with the very bytes of kafkajs', async () => {
  const topics = topicData.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map(({ partition, messages: of }) => ({
      partition,
      bodies: of.map(encodeRecordBody),
    })),
  }));
  const ours = encodeProduce({ acks: -1, timeoutMs: 30_000, topics }, Date.now());
  const theirs = await original<CreateProduce>(PRODUCE)(plain).encode();
  expect(ours.toString('hex')).toBe(theirs.buffer.toString('hex'));
});

it('frames a request with the very bytes of kafkajs', async () => {
  const request = patched<CreateProduce>(PRODUCE)(plain);
  const wire = { correlationId: 77, clientId: 'ledger-ü', request };
  expect(await hex(patched<CreateRequest>('protocol/request')(wire))).toBe(
    await hex(original<CreateRequest>('protocol/request')(wire)),
  );
});

describe('a fetched batch', () => {
  const file = 'protocol/recordBatch/v0/decoder';
  const Decoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => { offset: number };

  /** The record batch of a Produce request with one topic `t` and one partition. */
  async function batchOf(input: object): Promise<Buffer> {
    const request = await original<CreateProduce>(PRODUCE)({ ...plain, ...input }).encode();
    return Buffer.from(request.buffer.subarray(request.buffer.indexOf(Buffer.from([0, 1, 0x74])) + 15));
  }

  const one = (of: readonly object[]) => [
    { topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages: of }] },
  ];

  async function expectSame(bytes: Buffer): Promise<void> {
    const ours = new Decoder(bytes);
    const theirs = new Decoder(bytes);
    const read = await patched<DecodeBatch>(file)(ours);
    expect(read).toEqual(await original<DecodeBatch>(file)(theirs));
    expect(ours.offset).toBe(theirs.offset);
  }

  it.each([
    ['plain', { topicData: one(messages.slice(0, 200)) }],
    [
      'with times of their own',
      {
        topicData: one([
          { value: 'a', timestamp: '1600000000000' },
          { value: 'b', timestamp: '1500000000000' },
        ]),
      },
    ],
    ['compressed', { topicData: one(messages.slice(0, 20)), compression: 1 }],
    ['of a transaction', { topicData: one(messages.slice(0, 20)), transactionalId: null, producerId: 9n }],
    ['without records', { topicData: one([]) }],
  ])('is read as kafkajs reads it, %s', async (_name, input) => {
    const bytes = await batchOf(input);
    // The offset, which a broker overwrites, and some bytes behind the batch.
    bytes.writeBigInt64BE(9_007_199_254_700_000n, 0);
    await expectSame(Buffer.concat([bytes, Buffer.from('next')]));
  });

  it('is read as kafkajs reads it where the broker sets the time, or says that it is control', async () => {
    for (const attributes of [0x8, 0x10, 0x20, 0x30]) {
      const bytes = await batchOf({ topicData: one(messages.slice(0, 3)) });
      bytes.writeInt16BE(attributes, 21);
      await expectSame(bytes);
    }
  });

  it('that is cut off is refused as kafkajs refuses it', async () => {
    const bytes = await batchOf({ topicData: one(messages.slice(0, 20)) });
    for (const length of [bytes.length - 1, 70, 62]) {
      const cut = new Decoder(bytes.subarray(0, length));
      await expect(patched<DecodeBatch>(file)(cut)).rejects.toMatchObject({
        name: 'KafkaJSPartialMessageError',
      });
    }
  });
});

it('is in place for every importer of the package', async () => {
  const run = promisify(execFile);
  const index = new URL('./index.ts', import.meta.url).href;
  const script = `await import(${JSON.stringify(index)});
    const { createRequire } = await import('node:module');
    const request = createRequire(${JSON.stringify(import.meta.url)})('kafkajs/src/protocol/request');
    const encode = async () => ({ buffer: Buffer.of(1) });
    const framed = await request({ correlationId: 1, clientId: 'c', request: { apiKey: 0, apiVersion: 7, encode } });
    process.stdout.write(String(framed.buffer.length));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
  expect(stdout).toBe('16');
});
