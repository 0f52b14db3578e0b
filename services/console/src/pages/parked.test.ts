import type { ParkedDetailView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';

const evil = `<script>alert(1)</script>"'`;
const id = 'ledger/payouts.events.v1/3/1742';
const path = `/webhooks/parked/${encodeURIComponent(id)}`;
const api = `/parked/${encodeURIComponent(id)}`;
const reference = `po-${'0'.repeat(32)}`;

const message = (more: Partial<ParkedDetailView> = {}): ParkedDetailView => ({
  id,
  topic: 'payouts.events.v1',
  partition: 3,
  offset: '1742',
  key: evil,
  eventType: 'pesewa.payout.completed',
  eventId: 'ev-1',
  reason: `no hold ${evil}`,
  valueBytes: 812,
  parkedAt: '2026-11-27T11:00:00.000Z',
  state: 'parked',
  headers: { name: evil },
  payload: { reference, name: evil },
  ...more,
});
const proposed = message({
  discard: {
    reason: evil,
    status: 'proposed',
    requestedBy: 'ama',
    requestedAt: '2026-11-27T11:30:00.000Z',
  },
});

const seen = { requestedAt: '2026-11-27T11:30:00.000Z' };

describe('parked messages', () => {
  it('are listed for every service; one that gives no answer is named, and the others are shown', async () => {
    const { signIn, asked } = openConsole({
      'ledger GET /parked': { items: [message()], next: '1.x' },
      'reconciler GET /parked': answered(503, { code: 'unavailable', message: 'no database' }),
      'payout-gateway GET /parked': { items: [], next: null },
    });
    const { html } = await (await signIn('ama')).get('/webhooks/parked');
    expect(asked.filter(({ what }) => what.endsWith('GET /parked?state=parked'))).toHaveLength(5);
    expect(html).toContain(`href="${path}"`);
    expect(html).toContain(
      'href="/webhooks/parked?service=ledger&amp;state=parked&amp;cursor=1.x">Next page</a>',
    );
    expect(textOf(html)).toContain('Not available: reconciler: no database');
    expect(textOf(html)).toContain('payout-gateway could apply every message.');
    expect(html).not.toContain('<script>alert');
  });

  it('of one service and state are asked for from a place on', async () => {
    const { signIn, asked } = openConsole();
    await (await signIn('ama')).get('/webhooks/parked?service=ledger&state=any&cursor=5.y');
    expect(asked.map(({ what }) => what)).toEqual(['ledger GET /parked?cursor=5.y']);
  });
});

describe('a parked message', () => {
  it('shows why, with its headers, its payload, and the payment in it', async () => {
    const { signIn } = openConsole({ [`ledger GET ${api}`]: message() });
    const { html } = await (await signIn('ama')).get(path);
    expect(html).toContain(`href="/payments/${reference}"`);
    expect(html).not.toContain('<script>alert');
    expect(textOf(html)).toContain('Apply the message again');
  });

  it.each([
    ['replay', {}, 'replay', {}],
    ['discard', { reason: 'booked by hand' }, 'discard', { reason: 'booked by hand' }],
    ['approve', seen, 'discard/approve', seen],
    ['reject', { ...seen, reason: 'not this' }, 'discard/reject', { ...seen, reason: 'not this' }],
  ])('%s is one call, and the message is shown after it', async (what, fields, at, body) => {
    const called = `ledger POST ${api}/${at}`;
    const answer = what === 'discard' ? answered(202, message()) : message();
    const { signIn, asked } = openConsole({ [called]: answer });
    const done = await (await signIn('kofi')).post(path, { what, ...fields });
    expect([done.status, done.goesTo]).toEqual([303, path]);
    expect(asked.filter((one) => one.what === called)).toEqual([{ what: called, body, by: 'kofi' }]);
  });

  it('that stays parked is shown with the reason, and with what was written', async () => {
    const { signIn } = openConsole({
      [`ledger GET ${api}`]: message(),
      [`ledger POST ${api}/discard`]: answered(409, { code: 'closed', message: 'it is closed' }),
    });
    const done = await (await signIn('ama')).post(path, { what: 'discard', reason: evil });
    expect(done.status).toBe(409);
    expect(textOf(done.html)).toContain('it is closed');
    expect(done.html).toContain('value="&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('whose discard is proposed is decided by another operator', async () => {
    const { signIn } = openConsole({ [`ledger GET ${api}`]: proposed });
    const own = textOf((await (await signIn('ama')).get(path)).html);
    expect(own).toContain('Another operator must approve what you proposed.');
    expect(own).toContain('Withdraw the proposal: the message stays parked');
    const { html } = await (await signIn('kofi', 'approver')).get(path);
    // Either decision is about the proposal that was seen.
    expect(html.split(`name="requestedAt" value="${seen.requestedAt}"`)).toHaveLength(3);
    expect(html).toContain('name="reason"');
    const other = textOf(html);
    expect(other).toContain('Discard the message for good');
    const viewer = textOf((await (await signIn('esi', 'viewer')).get(path)).html);
    expect(viewer).toContain('takes the role approver');
    expect(viewer).not.toContain('Apply the message again');
  });

  it('can be proposed for discard again after a rejection', async () => {
    const discard = { ...proposed.discard, status: 'rejected' } as NonNullable<ParkedDetailView['discard']>;
    const { signIn } = openConsole({ [`ledger GET ${api}`]: message({ discard }) });
    expect(textOf((await (await signIn('ama')).get(path)).html)).toContain('Propose to discard the message');
  });

  it('does nothing for an action that is none', async () => {
    const { signIn, asked } = openConsole({ [`ledger GET ${api}`]: message() });
    const done = await (await signIn('ama')).post(path, { what: 'drop' });
    expect(done.status).toBe(422);
    expect(asked.filter(({ what }) => what.includes('POST'))).toEqual([]);
  });
});
