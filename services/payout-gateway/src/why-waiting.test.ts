import { describe, expect, it } from 'vitest';
import { ask, openTestApp, payout } from './app.fixture.ts';
import { viewPayout } from './operator-view.ts';
import type { Payout } from './store.ts';
import { createWhyWaiting } from './why-waiting.ts';

const held: Payout = { ...payout, step: 'held', dueAtMs: 0 };
const open = ({ paused = {}, isAvailable = true }: { paused?: object; isAvailable?: boolean } = {}) =>
  createWhyWaiting({
    isPaused: ({ rail, merchantId }) =>
      Object.values(paused).some((one) => one === rail || one === merchantId),
    rail: (name) => (name === 'upstream' ? { isAvailable: () => isAvailable } : undefined),
  });

describe('a payout that is not sent yet', () => {
  it.each([
    [{}, null],
    [{ paused: { rail: 'upstream' } }, 'Waiting: paused'],
    [{ paused: { merchant: 'demo' }, isAvailable: false }, 'Waiting: paused'],
    [{ paused: { merchant: 'rival' } }, null],
    [{ isAvailable: false }, 'Waiting: the route is delayed'],
  ])('with %j waits for %s', (parts, why) => {
    expect(open(parts)(held)).toBe(why);
  });

  it.each<Partial<Payout>>([
    { step: 'submitting' },
    { step: 'submitted' },
    { step: 'unknown' },
    { step: 'ended' },
    { attempts: 1, earlierUnclear: true },
    { step: 'awaitingHold', earlierUnclear: true },
    { step: 'awaitingHold', recipientKnown: false },
  ])('with %j may have been sent', (parts) => {
    expect(open({ isAvailable: false, paused: { rail: 'upstream' } })({ ...held, ...parts })).toBeNull();
  });

  it('says so in its lookup, in its list and to operators; an ended one says why it ended', async () => {
    const whyWaiting = open({ isAvailable: false });
    const app = openTestApp({ whyWaiting });
    const said = { statusReason: 'Waiting: the route is delayed' };
    const { body } = await ask(app, 'GET', '/api/v1/transactions/order-1/query');
    expect(body.responseData).toMatchObject(said);
    const list = await ask(app, 'GET', '/api/v1/transactions');
    expect(list.body.responseData).toMatchObject({ transactions: [said] });
    expect(viewPayout(held, whyWaiting).reason).toBe(said.statusReason);
    expect(viewPayout({ ...held, statusReason: 'Refused' }, whyWaiting).reason).toBe('Refused');
  });
});
