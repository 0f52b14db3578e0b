import { DAY_MS, type Result } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { decideDiscard, type ParkedMessage, proposeDiscard } from './parked-message.ts';

const parked: ParkedMessage = {
  id: 'books/payouts.events.v1/3/17',
  topic: 'payouts.events.v1',
  partition: 3,
  offset: 17n,
  key: 'demo:KES',
  eventType: 'pesewa.payouts.PayoutCompleted',
  eventId: 'ev-17',
  reason: 'a capture without a hold',
  valueBytes: 120,
  parkedAt: new Date(0),
  state: 'parked',
};
const proposal = { reason: 'by an order instead', by: 'ama', at: new Date(0) };
const proposed: ParkedMessage = {
  ...parked,
  discard: { reason: proposal.reason, requestedBy: 'ama', at: proposal.at, status: 'proposed' },
};

function valueOf<Value>(result: Result<Value, unknown>): Value {
  if (result.ok) return result.value;
  throw new Error(`refused: ${String(result.refusal)}`);
}

const seen = { requestedAt: proposal.at, by: 'kofi', at: new Date(DAY_MS) };
const approval = { ...seen, verdict: 'approve' } as const;
const rejection = { ...seen, verdict: 'reject', reason: 'it can be replayed' } as const;

it('is proposed once: the same again changes nothing, another waits, and an expired one does not block others', () => {
  expect(proposeDiscard(parked, proposal)).toEqual({ ok: true, value: proposed });
  expect(proposeDiscard(proposed, { ...proposal, at: new Date(1) })).toEqual({ ok: true, value: proposed });
  expect(proposeDiscard(proposed, { ...proposal, by: 'kofi' })).toEqual({
    ok: false,
    refusal: 'discard.open',
  });
  const later = { ...proposal, by: 'kofi', at: new Date(7 * DAY_MS) };
  expect(proposeDiscard(proposed, later)).toMatchObject({ value: { discard: { requestedBy: 'kofi' } } });
});

it('takes two operators, in time', () => {
  const discarded = valueOf(decideDiscard(proposed, approval));
  expect(discarded).toMatchObject({
    state: 'discarded',
    discard: { status: 'approved', decidedBy: 'kofi' },
  });
  expect(valueOf(decideDiscard(discarded, approval))).toBe(discarded);
  const refused = (message: ParkedMessage, change: object) =>
    decideDiscard(message, { ...approval, ...change });
  expect(refused(proposed, { by: 'ama' })).toEqual({ ok: false, refusal: 'discard.same_operator' });
  expect(refused(proposed, { at: new Date(7 * DAY_MS) })).toEqual({ ok: false, refusal: 'discard.expired' });
  expect(refused(parked, {})).toEqual({ ok: false, refusal: 'discard.none' });
});

it('ends with a rejection, the own one too; then it can be proposed anew', () => {
  const rejected = valueOf(decideDiscard(proposed, { ...rejection, by: 'ama' }));
  expect(rejected).toMatchObject({
    state: 'parked',
    discard: { status: 'rejected', rejectedFor: 'it can be replayed' },
  });
  expect(decideDiscard(rejected, approval)).toEqual({ ok: false, refusal: 'discard.decided' });
  expect(valueOf(proposeDiscard(rejected, proposal))).toEqual(proposed);
});

it('is not decided in place of another one that was seen', () => {
  const anew = valueOf(
    proposeDiscard(valueOf(decideDiscard(proposed, rejection)), { ...proposal, at: new Date(1) }),
  );
  for (const decision of [approval, rejection])
    expect(decideDiscard(anew, decision)).toEqual({ ok: false, refusal: 'discard.changed' });
});

it('is over once the message took effect', () => {
  const replayed = { ...proposed, state: 'replayed' } as const;
  expect(decideDiscard(replayed, approval)).toEqual({ ok: false, refusal: 'parked.closed' });
  expect(proposeDiscard(replayed, proposal)).toEqual({ ok: false, refusal: 'parked.closed' });
});
