const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;

/** Eight tables of 256 values, one for each of the eight bytes processed at once. */
const tables = ((): readonly Int32Array[] => {
  const first = Int32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    return value;
  });
  const all = [first];
  for (let slice = 1; slice < SLICES; slice += 1) {
    const before = all[slice - 1] ?? first;
    all.push(before.map((value) => (first[value & 0xff] ?? 0) ^ (value >>> 8)));
  }
  return all;
})();

const none = new Int32Array(256);
const [t0 = none, t1 = none, t2 = none, t3 = none, t4 = none, t5 = none, t6 = none, t7 = none] = tables;

/** The checksum of Kafka's record batches (CRC-32C), eight bytes at a time. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  let at = start;
  for (; at + SLICES <= end; at += SLICES) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < end; at += 1) crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}
