import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decompress, readRailText } from './rail-text.ts';

const json = Buffer.from('{"status":"COMPLETED"}');

it.each<[string | undefined, Buffer]>([
  [undefined, json],
  ['identity', json],
  ['gzip', gzipSync(json)],
  ['X-GZIP', gzipSync(json)],
  [' deflate ', deflateSync(json)],
  ['deflate', deflateRawSync(json)],
  ['br', brotliCompressSync(json)],
  ['zstd', zstdCompressSync(json)],
])('a body with Content-Encoding %s is decompressed', async (coding, bytes) => {
  expect(Buffer.from(await decompress(bytes, coding, 100))).toEqual(json);
});

it.each(['gzip', 'pack200-gzip', 'gzip, gzip'])(
  'JSON that is only said to be %s is read as it is',
  async (coding) => {
    expect(Buffer.from(await decompress(json, coding, 100))).toEqual(json);
  },
);

it.each([
  ['gzip', deflateSync(json), 'answer is not gzip'],
  ['gzip', gzipSync(json).subarray(0, 20), 'answer is not gzip'],
  ['toString', deflateSync(json), 'answer in an unknown content coding'],
  ['gzip', gzipSync('x'.repeat(101)), 'answer too large'],
  ['deflate', deflateSync('x'.repeat(101)), 'answer too large'],
  ['br', brotliCompressSync('x'.repeat(101)), 'answer too large'],
  ['zstd', zstdCompressSync('x'.repeat(101)), 'answer too large'],
])(
  'a body with Content-Encoding %s that is none, or expands too far, is refused by name',
  async (coding, bytes, why) => {
    await expect(decompress(bytes, coding, 100)).rejects.toThrow(why);
  },
);

it.each([
  ['é', 'utf8', undefined, 'é'],
  ['é', 'utf8', 'application/json; charset=iso-8859-1', 'é'],
  ['\ufeff{}', 'utf8', undefined, '{}'],
  ['é', 'latin1', undefined, '\ufffd'],
  ['é', 'latin1', 'application/json; charset="ISO-8859-1"', 'é'],
  ['é', 'latin1', 'application/json; charset=none-such', '\ufffd'],
  ['é', 'latin1', 'no type', '\ufffd'],
] as const)('%j in %s, of Content-Type %s, is read as %j', (text, encoding, type, read) => {
  expect(readRailText(Buffer.from(text, encoding), type)).toBe(read);
});
