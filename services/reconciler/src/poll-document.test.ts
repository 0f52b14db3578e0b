import { expect, it } from 'vitest';
import { awaited } from './domain/tracked.ts';
import { called, fold, opened } from './fixtures/verdicts.ts';
import { fromDocument, toDocument } from './poll-document.ts';

const keep = { paymentMs: 1, unknownMs: 600_000 };
const stored = (proven: boolean) => toDocument(fold(awaited('po-1', 5_000), [called({ proven })]), keep);

it('a reference that only callbacks name is deleted after its time, and nobody is asked about it', () => {
  expect(stored(false)).toMatchObject({ status: 'awaited', forgetAt: new Date(605_000) });
  expect(stored(false)).not.toHaveProperty('watch');
});

it('a reference is looked at a grace time after its first proof, from which on it is kept, and is not for hints', () => {
  const hinted = fold(awaited('po-1', 5_000), [called(), called({ proven: true })]);
  const proven = { booksDueAt: new Date(67_000), forgetAt: new Date(607_000) };
  expect(toDocument(hinted, keep)).toMatchObject(proven);
  const taken = { ...hinted, booksDueAtMs: null };
  const claim = called({ proven: true, amount: '99' });
  expect(toDocument(fold(taken, [claim]), keep)).not.toHaveProperty('booksDueAt');
  expect(stored(false)).not.toHaveProperty('booksDueAt');
});

it('a payment that the ledger or its owner mentions stays', () => {
  const unknown = fold(awaited('po-1', 5_000), [called({ proven: true })]);
  const posted = { ...unknown, posted: true };
  for (const known of [posted, fold(unknown, [opened('payout')])]) {
    expect(toDocument(known, keep)).not.toHaveProperty('forgetAt');
  }
});

it('a payment is read as it was written, and its own times are dates', () => {
  const claims = [called({ atMs: 6_000 }), called({ atMs: 9_000 }), called({ proven: true, amount: '7' })];
  const payment = fold(awaited('co-1', 5_000), [opened('collection'), ...claims]);
  const document = toDocument(payment, keep);
  expect(fromDocument(document)).toEqual(payment);
  expect(document).toMatchObject({ openedAt: new Date(1_000), dueAt: new Date(payment.dueAtMs ?? 0) });
  expect(JSON.stringify(Object.keys(document))).not.toContain('Ms"');
});
