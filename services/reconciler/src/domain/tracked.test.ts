import { describe, expect, it } from 'vitest';
import { awaited, inFlight, remember, type Sighting, sight, type Terms, type Tracked } from './tracked.ts';

const terms: Terms = {
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  country: 'KEN',
  amount: 10_000n,
  railFee: 50n,
};
const opened: Sighting = { kind: 'opened', name: 'PayoutAccepted', version: 1n, atMs: 1_000, terms };
const asked: Sighting = { kind: 'asked', name: 'PayoutSubmitted', version: 4n, atMs: 5_000, answer: null };
const ended = (status: 'completed' | 'failed' | 'reversed', version: bigint): Sighting => ({
  kind: 'ended',
  name: 'PayoutEnded',
  version,
  atMs: 9_000,
  status,
  terms,
});
const hint = (status: string): Sighting => ({
  kind: 'hinted',
  claim: { status, amount: '100', fee: '0.5', reason: null, atMs: 6_000 },
});
const posted = (posting: 'capture' | 'refund'): Sighting => ({
  kind: 'posted',
  name: 'Entry',
  posting,
  atMs: 9_500,
});

const fold = (...sightings: readonly Sighting[]): Tracked =>
  sightings.reduce<Tracked>(
    (tracked, sighting) => sight(tracked, sighting, { nowMs: 7_000, firstPollAfterMs: 30_000 }),
    awaited('po-1', 0),
  );

describe('a payment of the working set', () => {
  it('is first polled some time after it was opened, and again after the rail was asked', () => {
    expect(fold(opened)).toMatchObject({ status: 'open', dueAtMs: 31_000 });
    expect(fold(opened, asked)).toMatchObject({ status: 'open', dueAtMs: 35_000 });
  });

  it('is due at once by a hint, whenever it comes', () => {
    expect(fold(opened, hint('COMPLETED')).dueAtMs).toBe(7_000);
    expect(fold(hint('COMPLETED')).dueAtMs).toBeNull();
    expect(fold(hint('COMPLETED'), opened).dueAtMs).toBe(7_000);
    expect(fold(opened, ended('completed', 5n), hint('REVERSED')).dueAtMs).toBe(7_000);
  });

  it('has nothing due once it has ended as every callback claims', () => {
    expect(fold(opened, hint('COMPLETED'), ended('completed', 5n))).toMatchObject({
      status: 'completed',
      dueAtMs: null,
    });
    expect(fold(opened, hint('FAILED'), ended('completed', 5n)).dueAtMs).toBe(7_000);
  });

  it('is asked for once more where it ended otherwise than the rail told (design 4.5)', () => {
    const opening = fold(opened, asked);
    const history = remember(opening.history, { what: 'fact', detail: 'completed', atMs: 6_000 });
    const told = { ...opening, dueAtMs: null, history };
    const end = (status: 'completed' | 'failed' | 'reversed') =>
      sight(told, ended(status, 5n), { nowMs: 7_000, firstPollAfterMs: 30_000 }).dueAtMs;
    expect(end('failed')).toBe(7_000);
    expect(end('completed')).toBeNull();
    expect(end('reversed')).toBeNull();
  });

  it('remembers when the rail took it on, and whether it refused the newest attempt', () => {
    const accepted: Sighting = { ...asked, answer: 'accepted' };
    const refused: Sighting = { ...asked, answer: 'refused', version: 5n, atMs: 6_000 };
    expect(fold(opened, asked)).toMatchObject({ acceptedAtMs: null, refusedAtMs: null });
    expect(fold(opened, accepted)).toMatchObject({ acceptedAtMs: 5_000, refusedAtMs: null });
    expect(fold(accepted, opened)).toMatchObject({ acceptedAtMs: 5_000 });
    expect(fold(opened, asked, refused)).toMatchObject({ acceptedAtMs: null, refusedAtMs: 6_000 });
    const later: Sighting = { ...asked, version: 6n, atMs: 6_500 };
    expect(fold(opened, asked, refused, later)).toMatchObject({ refusedAtMs: null });
  });

  it('takes no event twice and none out of order', () => {
    const done = fold(opened, asked, ended('completed', 5n));
    expect(fold(opened, asked, ended('completed', 5n), opened, asked, ended('completed', 5n))).toEqual(done);
    expect(fold(opened, ended('completed', 5n), ended('reversed', 6n), ended('completed', 5n)).status).toBe(
      'reversed',
    );
  });

  it.each<[string, Sighting, Sighting]>([
    ['payout: submitted before accepted', asked, opened],
    [
      'collection: completion requested before initiated',
      { ...asked, name: 'CollectionCompletionRequested', version: 3n },
      { ...opened, name: 'CollectionInitiated', terms: { ...terms, kind: 'collection' } },
    ],
  ])('is tracked though its first event comes late (%s)', (_name, newer, first) => {
    const { history: _late, ...late } = fold(newer, first);
    const { history: _ordered, ...ordered } = fold(first, newer);
    expect(late).toEqual(ordered);
    expect(late).toMatchObject({ status: 'open', dueAtMs: 35_000 });
    expect(fold(newer, first, newer, first)).toEqual(fold(newer, first));
  });

  it('does not open again by a first event that comes after the end', () => {
    expect(fold(ended('completed', 5n), opened)).toEqual(fold(ended('completed', 5n)));
  });

  it('keeps the first few distinct claims only', () => {
    const flood = Array.from({ length: 20 }, (_, index) => hint(`CLAIM ${index}`));
    expect(fold(opened, hint('FAILED'), hint('FAILED'), ...flood).callbacks).toHaveLength(8);
  });
});

describe('what is in flight', () => {
  it.each<[string, readonly Sighting[], bigint, bigint]>([
    ['an open payout may have left', [opened], 10_050n, 0n],
    ['a completed one has, until the ledger says so', [opened, ended('completed', 5n)], 10_050n, 0n],
    ['and not after', [opened, ended('completed', 5n), posted('capture')], 0n, 0n],
    ['even where the ledger is heard first', [posted('capture'), opened], 0n, 0n],
    ['a failed one has not', [opened, ended('failed', 5n)], 0n, 0n],
    ['a reversal may be back', [opened, posted('capture'), ended('reversed', 6n)], 0n, 10_000n],
    [
      'until the ledger says so',
      [opened, posted('capture'), ended('reversed', 6n), posted('refund')],
      0n,
      0n,
    ],
  ])('%s', (_name, sightings, mayDebit, mayCredit) => {
    expect(inFlight(fold(...sightings))).toEqual({ mayDebit, mayCredit });
  });

  it('a collection may have come in, less what the rail keeps', () => {
    const collection: Sighting = { ...opened, terms: { ...terms, kind: 'collection' } };
    expect(inFlight(fold(collection))).toEqual({ mayDebit: 0n, mayCredit: 9_950n });
  });
});
