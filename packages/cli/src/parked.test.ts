import { expect, it } from 'vitest';
import { parkedMessage } from './parked.fixture.ts';
import { commandLine } from './program.fixture.ts';

const ok = (body: unknown) => ({ status: 200, body });
const page = (items: readonly object[], next: string | null = null) => ok({ items, next });
const ID = 'ledger/payouts.events.v1/3/17';
const URL_OF_ID = 'http://ledger/parked/ledger%2Fpayouts.events.v1%2F3%2F17';
const token = 'operator-token-of-tests';

it('lists what waits at every service, the newest first, and who gave no answer', async () => {
  const line = commandLine((url) => {
    if (url.startsWith('http://webhooks'))
      return { status: 500, body: { code: 'broken', message: 'this broke' } };
    if (url === 'http://ledger/parked?state=parked') return page([parkedMessage(ID)], 'more');
    if (url.startsWith('http://ledger')) return page([parkedMessage('ledger/payouts.events.v1/3/15')]);
    return page(
      url.startsWith('http://payouts') ? [parkedMessage('payout-gateway/ledger.events.v1/0/16')] : [],
    );
  });
  expect(await line.run('parked')).toBe(1);
  expect(line.printed().match(/[a-z-]+\/\S+\/\d+(?= )/g)).toEqual([
    ID,
    'payout-gateway/ledger.events.v1/0/16',
    'ledger/payouts.events.v1/3/15',
  ]);
  for (const shown of ['PayoutCompleted', 'demo:KES', 'a capture without a hold'])
    expect(line.printed()).toContain(shown);
  expect(line.complained()).toContain('no answer from webhook-dispatcher');
  expect(line.requests).toContain('http://ledger/parked?state=parked&cursor=more');
});

it('lists what became of messages, of one service and topic', async () => {
  const discard = {
    reason: 'by an order instead',
    status: 'approved',
    requestedBy: 'ama',
    requestedAt: '2026-01-02T03:04:05.000Z',
    decidedBy: 'kofi',
    decidedAt: '2026-01-02T03:05:05.000Z',
  };
  const line = commandLine([page([parkedMessage(ID, { state: 'discarded', discard })])]);
  expect(await line.run('parked', 'list', '--service', 'ledger', '--topic', 't', '--state', 'any')).toBe(0);
  expect(line.requests).toEqual(['http://ledger/parked?topic=t']);
  expect(line.printed()).toContain('discarded by ama and kofi');
});

it('shows one message whole', async () => {
  const lastReplay = { by: 'ama', at: '2026-01-02T03:05:05.000Z', failure: 'the handler failed: TypeError' };
  const headers = { 'event-id': 'ev-17', 'event-type': 'pesewa.\u001b[2Jpayouts' };
  const message = { ...parkedMessage(ID, { lastReplay }), headers, payload: { amount: '9007199254740993' } };
  const line = commandLine([ok(message)]);
  expect(await line.run('parked', 'show', ID)).toBe(0);
  expect(line.requests).toEqual([URL_OF_ID]);
  expect(line.printed()).toContain('by ama at 2026-01-02T03:05:05.000Z: the handler failed: TypeError');
  expect(line.printed()).toContain('"amount": "9007199254740993"');
  expect(line.printed()).not.toContain('\u001b');
});

it('replays one message at the service that parked it', async () => {
  const line = commandLine([ok(parkedMessage(ID, { state: 'replayed' }))]);
  expect(await line.run('parked', 'replay', ID)).toBe(0);
  expect(line.requests).toEqual([{ url: `${URL_OF_ID}/replay`, token, body: {} }]);
  expect(line.printed()).toBe(`replayed ${ID}\n`);
});

it('replays all of a service in the order of their topics, past those that fail', async () => {
  const ids = [ID, 'ledger/payouts.events.v1/3/9', 'ledger/collections.events.v1/0/12'];
  const line = commandLine((url) => {
    if (url.includes('state=')) return page(ids.map((id) => parkedMessage(id)));
    const id = ids.find((one) => url.includes(encodeURIComponent(one))) ?? '';
    const message = 'the message stays parked: a capture without a hold';
    return id.endsWith('/9')
      ? { status: 409, body: { code: 'replay_failed', message } }
      : ok(parkedMessage(id, { state: 'replayed' }));
  });
  expect(await line.run('parked', 'replay', '--service', 'ledger')).toBe(1);
  expect(line.printed().split('\n')).toEqual([
    'replayed ledger/collections.events.v1/0/12',
    expect.stringMatching(/^failed ledger\/payouts\.events\.v1\/3\/9: .*a capture without a hold$/),
    `replayed ${ID}`,
    '',
  ]);
  expect(line.complained()).toContain('1 of 3 stay parked');
  expect(await line.run('parked', 'replay')).toBe(1);
  expect(await line.run('parked', 'replay', ID, '--service', 'ledger')).toBe(1);
});

const discard = {
  reason: 'a slip',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: '2026-01-02T03:04:05.000Z',
};

it('discards by two: one proposes, the other approves with a token of their own', async () => {
  const approved = { ...discard, status: 'approved', decidedBy: 'kofi' };
  const line = commandLine([
    { status: 202, body: parkedMessage(ID, { discard }) },
    ok(parkedMessage(ID, { state: 'discarded', discard: approved })),
  ]);
  expect(await line.run('parked', 'discard', ID, '--reason', 'a slip')).toBe(0);
  expect(await line.run('parked', 'approve', ID, '--seen', discard.requestedAt)).toBe(0);
  const seen = { requestedAt: discard.requestedAt };
  expect(line.requests).toEqual([
    { url: `${URL_OF_ID}/discard`, token, body: { reason: 'a slip' } },
    { url: `${URL_OF_ID}/discard/approve`, token: 'approver-token-of-tests', body: seen },
  ]);
  expect(line.printed()).toContain(`pesewa parked approve ${ID} --seen ${discard.requestedAt}\n`);
  expect(line.printed()).toContain(`discarded ${ID}, approved by kofi\n`);
  const rejecting = commandLine([
    ok({ ...parkedMessage(ID, { discard }), headers: {}, payload: null }),
    ok(parkedMessage(ID, { discard: { ...discard, status: 'rejected', decidedBy: 'kofi' } })),
  ]);
  expect(await rejecting.run('parked', 'reject', ID, '--reason', 'not this')).toBe(0);
  const body = { ...seen, reason: 'not this' };
  expect(rejecting.requests).toEqual([URL_OF_ID, { url: `${URL_OF_ID}/discard/reject`, token, body }]);
});

it('approves no discard that was not seen: it shows the one that is proposed now, and its command', async () => {
  const anew = { ...discard, reason: 'another slip', requestedAt: '2026-01-02T04:04:05.000Z' };
  for (const verb of ['show', 'approve']) {
    const line = commandLine([ok({ ...parkedMessage(ID, { discard: anew }), headers: {}, payload: null })]);
    expect(await line.run('parked', verb, ID)).toBe(verb === 'show' ? 0 : 1);
    expect(line.requests).toEqual([URL_OF_ID]);
    expect(line.printed()).toContain('another slip; proposed by ama at 2026-01-02T04:04:05.000Z');
    expect(line.printed()).toContain(`pesewa parked approve ${ID} --seen ${anew.requestedAt}\n`);
    expect(line.complained()).toContain(verb === 'show' ? '' : '--seen: nothing was approved');
  }
});

it('decides about no discard that nobody proposes, and rejects none without a reason', async () => {
  const line = commandLine([ok({ ...parkedMessage(ID), headers: {}, payload: null })]);
  expect(await line.run('parked', 'approve', ID)).toBe(1);
  expect(line.complained()).toContain(`it is not proposed to discard ${ID}`);
  expect(await line.run('parked', 'reject', ID)).toBe(1);
  expect(line.complained()).toContain('--reason');
  expect(await line.run('parked', 'reject', ID, '--reason', '\u200b')).toBe(1);
  expect(line.complained()).toContain('--reason: is required');
  expect(line.requests).toEqual([URL_OF_ID]);
});

it('lists what it is proposed to discard', async () => {
  const line = commandLine([page([parkedMessage(ID)])]);
  expect(await line.run('parked', 'list', '--service', 'ledger', '--proposed')).toBe(0);
  expect(line.requests).toEqual(['http://ledger/parked?state=parked&proposed=true']);
});

it('knows by its id who has parked a message, and says where it knows not', async () => {
  const line = commandLine();
  expect(await line.run('parked', 'approve', 'po-0193e5c1')).toBe(1);
  expect(line.requests).toEqual([]);
  expect(line.complained()).toContain('is of no service');
});
