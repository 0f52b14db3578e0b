import avro from 'avsc';
import { expect, it } from 'vitest';
import { longAsBigint } from './codec.ts';

const type = avro.Type.forSchema(
  {
    type: 'record',
    name: 'R',
    fields: [
      { name: 'a', type: 'long' },
      { name: 'b', type: ['null', 'long'] },
    ],
  },
  { typeHook: (part) => (part === 'long' ? longAsBigint : undefined) },
);

const powers = Array.from({ length: 63 }, (_, bit) => 1n << BigInt(bit));
const values = [0n, ...powers.flatMap((power) => [power - 1n, power, power + 1n])].flatMap((value) => [
  value,
  -value,
]);
const all = [...values, 2n ** 63n - 1n, -(2n ** 63n)];

/** Avro's own encoding: zigzag, then seven bits a byte. */
function bytesOf(value: bigint): number[] {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

it('writes every size of number as Avro has it, and reads it back exactly', () => {
  for (const value of all) {
    const bytes = type.toBuffer({ a: value, b: value });
    expect([...bytes]).toEqual([...bytesOf(value), 2, ...bytesOf(value)]);
    expect({ ...(type.fromBuffer(bytes) as object) }).toEqual({ a: value, b: value });
  }
});

it('refuses what is no bigint', () => {
  expect(() => type.toBuffer({ a: 1, b: null })).toThrow('invalid');
});
