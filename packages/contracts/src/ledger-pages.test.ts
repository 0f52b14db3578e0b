import { describe, expect, it } from 'vitest';
import {
  type ChainedEntry,
  type ChainedLine,
  type ChainedPosting,
  GENESIS,
  pageHash,
  pageId,
  postingText,
} from './ledger-pages.ts';

const entry: ChainedEntry = {
  kind: 'capture',
  debit: 'wallet:demo:KES:held',
  credit: 'float:upstream:KES',
  amount: 1_000n,
};

const fee: ChainedEntry = { ...entry, kind: 'fee', credit: 'feeIncome:KES', amount: 10n };

const posting: Required<ChainedPosting> = {
  _id: 'po-1/capture',
  kind: 'capture',
  reference: 'po-1',
  causationId: 'ev-1',
  currency: 'KES',
  fee: 10n,
  rail: 'upstream',
  entries: [entry, fee],
  wallet: 'demo:KES',
  walletSequence: 8n,
  availableAfter: 90n,
  heldAfter: 1_010n,
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
    expect(hex(pageHash(place, [{ ...posting }], [line]))).toBe(
      hex(pageHash({ ...place }, [posting], [line])),
    );
    expect(pageHash(place, [posting], [line])).toHaveLength(32);
  });

  const hashOf = (...postings: readonly ChainedPosting[]) => hex(pageHash(place, postings, [line]));
  const changed = (value: unknown): unknown => {
    if (typeof value === 'bigint') return value + 1n;
    return value instanceof Date ? new Date(1_001) : `${String(value)}x`;
  };

  it.each((Object.keys(posting) as (keyof ChainedPosting)[]).filter((field) => field !== 'entries'))(
    'is another where a posting has another %s',
    (field) => {
      const other: ChainedPosting = { ...posting, [field]: changed(posting[field]) };
      expect(postingText(other)).not.toBe(postingText(posting));
      expect(hashOf(other)).not.toBe(hashOf(posting));
    },
  );

  it.each(Object.keys(entry) as (keyof ChainedEntry)[])(
    'is another where an entry of a posting has another %s',
    (field) => {
      for (const index of [0, 1]) {
        const own = posting.entries[index] ?? entry;
        const entries = posting.entries.with(index, { ...own, [field]: changed(own[field]) });
        expect(hashOf({ ...posting, entries })).not.toBe(hashOf(posting));
      }
    },
  );

  it('is another in another order of the entries, or with an entry more or less', () => {
    const hashes = [[entry, fee], [fee, entry], [entry], [entry, fee, fee], []].map((entries) =>
      hashOf({ ...posting, entries }),
    );
    expect(new Set(hashes).size).toBe(5);
  });

  it.each([
    { ...place, chain: 'payouts/1' },
    { ...place, number: 8n },
    { ...place, previous: new Uint8Array(32).fill(1) },
  ])('is another at another place', (other) => {
    expect(hex(pageHash(other, [posting], [line]))).not.toBe(hashOf(posting));
  });

  it('is another in another order, or with a posting more or less', () => {
    const second = { ...posting, _id: 'po-2/hold' };
    const hashes = [[posting, second], [second, posting], [posting], []].map((page) =>
      hex(pageHash(place, page, [line])),
    );
    expect(new Set(hashes).size).toBe(4);
  });

  it.each(Object.keys(line) as (keyof ChainedLine)[])('is another where a line has another %s', (field) => {
    const value = line[field];
    const other = { ...line, [field]: typeof value === 'bigint' ? value + 1n : `${value}x` };
    expect(hex(pageHash(place, [posting], [other]))).not.toBe(hashOf(posting));
  });

  it('is another with a line more or less', () => {
    const hashes = [[line, line], [line], []].map((lines) => hex(pageHash(place, [posting], lines)));
    expect(new Set(hashes).size).toBe(3);
  });

  it('is another where a posting hides in a field of its neighbour', () => {
    const second = { ...posting, _id: 'po-2/hold' };
    // Where the first text ends, the second could continue.
    const between = `\n${postingText(second)}`;
    const withLength = `\n${postingText(second).length}\u001f${postingText(second)}`;
    const hiding = [between, withLength].map((more) => {
      const last = { ...fee, amount: `${fee.amount}${more}` as unknown as bigint };
      return { ...posting, entries: [entry, last] };
    });
    const hashes = [[posting, second], ...hiding.map((one) => [one])].map((page) =>
      hex(pageHash(place, page, [])),
    );
    expect(new Set(hashes).size).toBe(3);
  });

  it('is another where an entry hides in a field of its neighbour', () => {
    const credit = [entry.credit, entry.amount, fee.kind, fee.debit, fee.credit].join('\u001f');
    const hiding = { ...entry, credit, amount: fee.amount };
    expect(hashOf({ ...posting, entries: [hiding] })).not.toBe(hashOf(posting));
  });

  it('keeps an absent field and its neighbour apart', () => {
    const { fee: _fee, rail: _rail, ...bare } = posting;
    expect(postingText({ ...bare, fee: 5n })).not.toBe(postingText({ ...bare, rail: '5' }));
  });
});

describe('pageId', () => {
  it('sorts by number within its chain', () => {
    const ids = [10n, 9n, 1_000n].map((number) => pageId('payouts/0', number));
    expect(ids.toSorted()).toEqual([ids[1], ids[0], ids[2]]);
  });
});
