import { describe, expect, it } from 'vitest';
import { type ChainedEntry, type ChainedLine, entryText, GENESIS, pageHash, pageId } from './ledger-pages.ts';

const entry: Required<ChainedEntry> = {
  _id: 'po-1/hold',
  kind: 'hold',
  debit: 'wallet:demo:KES:available',
  credit: 'wallet:demo:KES:held',
  amount: 1_010n,
  currency: 'KES',
  reference: 'po-1',
  causationId: 'ev-1',
  wallet: 'demo:KES',
  walletSequence: 8n,
  availableAfter: 90n,
  heldAfter: 1_010n,
  fee: 10n,
  rail: 'upstream',
  at: new Date(1_000),
};

const line: ChainedLine = {
  account: 'float:upstream:KES',
  debits: 0n,
  credits: 5n,
  debitsAfter: 9n,
  creditsAfter: 7n,
};

const place = { chain: 'payouts/0', number: 7n, previous: GENESIS };
const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');

describe('the hash of a page', () => {
  it('is the same for the same page, in 32 bytes', () => {
    expect(hex(pageHash(place, [{ ...entry }], [line]))).toBe(hex(pageHash({ ...place }, [entry], [line])));
    expect(pageHash(place, [entry], [line])).toHaveLength(32);
  });

  it.each(Object.keys(entry) as (keyof ChainedEntry)[])(
    'is another where an entry has another %s',
    (field) => {
      const value = entry[field];
      const other =
        typeof value === 'bigint'
          ? value + 1n
          : value instanceof Date
            ? new Date(1_001)
            : `${String(value)}x`;
      expect(entryText({ ...entry, [field]: other })).not.toBe(entryText(entry));
      expect(hex(pageHash(place, [{ ...entry, [field]: other }], [line]))).not.toBe(
        hex(pageHash(place, [entry], [line])),
      );
    },
  );

  it.each([
    { ...place, chain: 'payouts/1' },
    { ...place, number: 8n },
    { ...place, previous: new Uint8Array(32).fill(1) },
  ])('is another at another place', (other) => {
    expect(hex(pageHash(other, [entry], [line]))).not.toBe(hex(pageHash(place, [entry], [line])));
  });

  it('is another in another order, or with an entry more or less', () => {
    const second = { ...entry, _id: 'po-2/hold' };
    const hashes = [[entry, second], [second, entry], [entry], []].map((page) =>
      hex(pageHash(place, page, [line])),
    );
    expect(new Set(hashes).size).toBe(4);
  });

  it.each(Object.keys(line) as (keyof ChainedLine)[])('is another where a line has another %s', (field) => {
    const value = line[field];
    const other = { ...line, [field]: typeof value === 'bigint' ? value + 1n : `${value}x` };
    expect(hex(pageHash(place, [entry], [other]))).not.toBe(hex(pageHash(place, [entry], [line])));
  });

  it('is another with a line more or less', () => {
    const hashes = [[line, line], [line], []].map((lines) => hex(pageHash(place, [entry], lines)));
    expect(new Set(hashes).size).toBe(3);
  });

  it('is another where an entry hides in a field of its neighbour', () => {
    const second = { ...entry, _id: 'po-2/hold' };
    // Where the first text ends, the second could continue.
    const between = `\n${entryText(second)}`;
    const hiding = { ...entry, heldAfter: `${entry.heldAfter}${between}` as unknown as bigint };
    const withLength = {
      ...entry,
      heldAfter:
        `${entry.heldAfter}\n${entryText(second).length}\u001f${entryText(second)}` as unknown as bigint,
    };
    const hashes = [[entry, second], [hiding], [withLength]].map((page) => hex(pageHash(place, page, [])));
    expect(new Set(hashes).size).toBe(3);
  });

  it('keeps an absent field and its neighbour apart', () => {
    const { fee: _fee, rail: _rail, ...bare } = entry;
    expect(entryText({ ...bare, fee: 5n })).not.toBe(entryText({ ...bare, rail: '5' }));
  });
});

describe('pageId', () => {
  it('sorts by number within its chain', () => {
    const ids = [10n, 9n, 1_000n].map((number) => pageId('payouts/0', number));
    expect(ids.toSorted()).toEqual([ids[1], ids[0], ids[2]]);
  });
});
