import avro from 'avsc';

/** The buffer that avsc reads from and writes to. */
interface Tap {
  pos: number;
  readonly readLong: () => number;
  readonly writeLong: (value: number) => void;
}

interface Long {
  readonly _read: (tap: Tap) => bigint;
  readonly _write: (tap: Tap, value: bigint) => void;
}

/** Within this bound avsc's own arithmetic is exact: twice the number is still a safe integer. */
const EXACT_MAX = 2 ** 51;
const EXACT_MAX_BIGINT = BigInt(EXACT_MAX);

const byBytes = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.allocUnsafe(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: (value: number | string) => BigInt(value),
  toJSON: (value: bigint) => Number(value),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (left: bigint, right: bigint) => (left === right ? 0 : left < right ? -1 : 1),
});

// avsc copies each custom long through a buffer. Only the numbers that need it go that slow way.
const slow = byBytes as unknown as Long;

const quick: Long = {
  _read: (tap) => {
    const start = tap.pos;
    const value = tap.readLong();
    if (value > -EXACT_MAX && value < EXACT_MAX) return BigInt(value);
    tap.pos = start;
    return slow._read.call(byBytes, tap);
  },
  _write: (tap, value) => {
    if (typeof value === 'bigint' && value > -EXACT_MAX_BIGINT && value < EXACT_MAX_BIGINT)
      tap.writeLong(Number(value));
    else slow._write.call(byBytes, tap, value);
  },
};

/** 64-bit integers as bigint, so that no amount is ever rounded. */
export const longAsBigint: avro.Type = Object.freeze(
  Object.assign(Object.create(byBytes) as typeof byBytes, quick),
);
