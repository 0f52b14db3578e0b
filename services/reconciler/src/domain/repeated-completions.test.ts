import { expect, it } from 'vitest';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const at = {
  nowMs: 0,
  firstPollAfterMs: 30_000,
  booksGraceMs: 60_000,
  lateAfterMs: 30_000,
};

const opened: PaymentObservation = {
  kind: 'opened',
  name: 'CollectionInitiated',
  version: 1n,
  atMs: 1_000,
  terms: {
    kind: 'collection',
    rail: 'upstream',
    merchantId: 'demo',
    currency: 'GMD',
    country: 'GMB',
    amount: 10_050n,
    railFee: 101n,
  },
};

const asked = (version: bigint, atMs: number): PaymentObservation => ({
  kind: 'asked',
  name: 'CollectionCompletionRequested',
  version,
  atMs,
  answer: null,
});

const see = (tracked: Tracked, observation: PaymentObservation) => apply(tracked, observation, at);

it('a completion that a merchant repeats does not put off the poll that is due', () => {
  const tracked = [opened, asked(2n, 5_000), asked(3n, 20_000), asked(4n, 30_900)].reduce(
    see,
    awaited('co-1', 0),
  );
  expect(tracked.dueAtMs).toBe(31_000);
});

it('a completion brings forward a poll that would come later', () => {
  const waiting = { ...see(awaited('co-1', 0), opened), scheduledAtMs: 900_000, dueAtMs: 900_000 };
  expect(see(waiting, asked(2n, 5_000))).toMatchObject({ dueAtMs: 35_000, claim: null });
});
