import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { crc32c } from './produce-encoder.ts';

const theirs = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/crc32C') as (
  bytes: Buffer,
) => number;

it('is the checksum of the standard', () => {
  expect(crc32c(Buffer.from('123456789'), 0, 9)).toBe(0xe3069283);
});

it.each([0, 1, 7, 8, 9, 63, 64, 1_000, 100_003])('is the checksum of kafkajs over %d bytes', (length) => {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index < length; index += 1) bytes[index] = (index * 131 + (index >> 3)) & 0xff;
  expect(crc32c(bytes, 0, length)).toBe(theirs(bytes));
  expect(crc32c(bytes, length >> 1, length)).toBe(theirs(bytes.subarray(length >> 1)));
});
