import { describe, expect, it } from 'vitest';
import { linesOf, readCursor, type StatedPosting, writeCursor } from './statement.ts';

const WALLET = 'wallet:demo:KES';
const posting = (
  kind: string,
  entries: StatedPosting['entries'],
  after: { readonly sequence: bigint; readonly available: bigint; readonly held: bigint },
): StatedPosting => ({
  kind,
  reference: 'po-1',
  entries,
  wallet: 'demo:KES',
  walletSequence: after.sequence,
  availableAfter: after.available,
  heldAfter: after.held,
  at: new Date(7),
});
const entry = (kind: string, debit: string, credit: string, amount: bigint) => ({
  kind,
  debit,
  credit,
  amount,
});

describe('the lines of a posting (ADR 90)', () => {
  it('are a payout and its fee, each with the booked balance after it, without what the rail costs us', () => {
    const capture = posting(
      'capture',
      [
        entry('capture', `${WALLET}:held`, 'float:upstream:KES', 100n),
        entry('fee', `${WALLET}:held`, 'feeIncome:KES', 10n),
        entry('railCost', 'railCost:KES', 'float:upstream:KES', 5n),
      ],
      { sequence: 9n, available: 900n, held: 40n },
    );
    const common = { atMs: 7, reference: 'po-1', fee: null };
    expect(linesOf(capture)).toEqual([
      { ...common, type: 'PAYOUT', amount: -100n, bookedAfter: 950n, sequence: 8n },
      { ...common, type: 'PAYOUT_FEE', amount: -10n, bookedAfter: 940n, sequence: 9n },
    ]);
  });

  it('are a collection less its fee, and the fee beside it', () => {
    const collect = posting(
      'collect',
      [
        entry('collect', 'float:upstream:KES', `${WALLET}:available`, 98n),
        entry('fee', 'float:upstream:KES', 'feeIncome:KES', 2n),
        entry('railCost', 'railCost:KES', 'float:upstream:KES', 1n),
      ],
      { sequence: 3n, available: 98n, held: 0n },
    );
    expect(linesOf(collect)).toMatchObject([
      { type: 'COLLECTION', amount: 98n, fee: 2n, bookedAfter: 98n, sequence: 3n },
    ]);
  });

  it.each(['hold', 'release'])('are none where money only becomes held, or available again: %s', (kind) => {
    const moved = [entry(kind, `${WALLET}:held`, `${WALLET}:available`, 100n)];
    expect(linesOf(posting(kind, moved, { sequence: 1n, available: 100n, held: 0n }))).toEqual([]);
  });

  it('are only those of its own wallet, though the name of another begins with it', () => {
    const other = [entry('fund', 'treasury:KES', 'wallet:demo:KES2:available', 100n)];
    expect(linesOf(posting('fund', other, { sequence: 1n, available: 100n, held: 0n }))).toEqual([]);
  });

  it('can not be of a kind that has no words', () => {
    const unknown = [entry('gift', 'treasury:KES', `${WALLET}:available`, 100n)];
    expect(() => linesOf(posting('gift', unknown, { sequence: 1n, available: 100n, held: 0n }))).toThrow(
      'gift',
    );
  });
});

describe('a cursor', () => {
  it('is read as the place that was written', () => {
    const place = { atMs: Date.UTC(2026, 10, 1), sequence: 12n };
    expect(readCursor(writeCursor(place))).toEqual(place);
  });

  it.each(['', 'x', Buffer.from('1').toString('base64url'), Buffer.from('1 2 3').toString('base64url')])(
    'is nothing else: %j',
    (text) => {
      expect(readCursor(text)).toBeUndefined();
    },
  );
});
