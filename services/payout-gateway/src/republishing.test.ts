import { idOf, type Transaction } from '@pesewa/messaging';
import { describe, expect, it } from 'vitest';
import { payoutDecider } from './domain/payout.ts';
import { describe as describeStep, keepCompletion, type PayoutDomainEvent } from './domain/payout-state.ts';
import { type OwnEvent, rebuildPayout } from './domain/rebuilt-payout.ts';
import { acceptedEvent, eventOf } from './events.ts';
import { republish } from './republishing.ts';
import type { Payout } from './store.ts';

const accepted: Payout = {
  ...payoutDecider.initial,
  reference: 'po-1',
  merchantId: 'demo',
  order: {
    merchantReference: 'm-1',
    amount: { minor: 10_000n, currency: 'NGN' },
    country: 'NGA',
    channel: 'BANK',
    transactionType: '1',
    beneficiary: { accountName: 'Ama', accountNumber: '0123', bankCode: '058', narration: '' },
    sender: { name: 'Kofi', phoneNumber: '', email: '' },
  } as unknown as Payout['order'],
  contentHash: 'q3ZyPJdjxWbp',
  fee: 100n,
  rail: 'upstream',
  batchReference: null,
  acceptedAtMs: 1_000,
  timeline: [],
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
  causedBy: null,
};

/** A payout after these domain events, and its published events; each domain event is a second after the one before. */
function live(...domainEvents: readonly PayoutDomainEvent[]) {
  let payout = accepted;
  const published = [acceptedEvent(accepted)];
  for (const [index, domainEvent] of domainEvents.entries()) {
    const atMs = 2_000 + index * 1_000;
    const timeline = [...payout.timeline, { what: describeStep(domainEvent), atMs }];
    const causationId = `ev-fact-${index}`;
    const completion = keepCompletion(payout, domainEvent);
    const state = payoutDecider.evolve(payout, domainEvent);
    payout = { ...payout, ...state, ...completion, timeline, causedBy: causationId };
    const event = eventOf(domainEvent, payout, { causationId, atMs });
    if (event) published.push(event);
  }
  return { payout, published };
}

async function republished(payout: Payout, step = 'end') {
  const emitted: Parameters<Transaction['emit']>[0][] = [];
  const transaction = {
    session: {},
    emit: (event: (typeof emitted)[number]) => void emitted.push(event),
    afterCommit: () => undefined,
  } as unknown as Transaction;
  const store = { findByReferences: async () => [payout] };
  await republish(store, [{ reference: payout.reference, step }], transaction);
  return emitted;
}

const held = { kind: 'held', dueAtMs: 2_000 } as const;
const submitted = { kind: 'submitted', answer: 'acknowledged' } as const;
const completed = { kind: 'completed', railFee: 50n, reason: 'Successful' } as const;
const paid = { ...completed, reason: 'Paid by the bank' } as const;
const failed = { kind: 'failed', reason: 'Declined' } as const;
const reversed = { kind: 'reversed', reason: 'Returned' } as const;

describe('what is published again', () => {
  it.each<[string, readonly PayoutDomainEvent[]]>([
    ['is accepted', []],
    ['is held', [held]],
    ['was taken on by its rail', [held, submitted]],
    ['failed', [failed]],
    ['completed without a word before', [held, completed]],
    ['was reversed', [held, completed, reversed]],
    ['was reversed after its rail had said more', [held, paid, reversed]],
  ])('of a payout that %s is what was published: the same events', async (_what, domainEvents) => {
    const { payout, published } = live(...domainEvents);
    const again = await republished(payout);
    expect(again).toEqual(published);
    expect(again.map(idOf)).toEqual(published.map(idOf));
  });

  it.each<[string, readonly PayoutDomainEvent[]]>([
    ['is accepted', []],
    ['was taken on by its rail', [held, submitted]],
    ['failed', [failed]],
    ['completed', [held, completed]],
    ['was reversed', [held, paid, reversed]],
  ])(
    'of one that %s, was forgotten and is rebuilt from these events: the same',
    async (_what, domainEvents) => {
      const { published } = live(...domainEvents);
      const own = published.map((event) => ({
        ...event,
        causationId: event.causationId ?? '',
      })) as unknown as readonly OwnEvent[];
      const back = rebuildPayout(own);
      expect(back && (await republished(back))).toEqual(published);
    },
  );

  it('leaves out what the record does not prove', async () => {
    const { payout } = live(held, submitted, completed);
    expect((await republished(payout)).map(({ type }) => type)).toEqual([
      'pesewa.payouts.PayoutAccepted',
      'pesewa.payouts.PayoutCompleted',
    ]);
  });

  it('leaves out a submission that something has followed: only what happened last is known whole', async () => {
    const decided = { outcome: 'failed', railFee: 0n, knownAtMs: 1, decidedAtMs: 2 } as const;
    const { payout } = live(held, submitted, { kind: 'decided', decided, dueAtMs: 9_000 });
    expect((await republished(payout)).map(({ type }) => type)).toEqual(['pesewa.payouts.PayoutAccepted']);
  });

  it('is nothing where the answer to a hold has come meanwhile', async () => {
    expect(await republished(live(held).payout, 'hold')).toEqual([]);
    expect(await republished(accepted, 'hold')).toHaveLength(1);
  });
});

it('publishes only the beginning of an order’s hash', () => {
  expect(acceptedEvent(accepted).payload).toMatchObject({ contentCheck: 'q3Z' });
});
