import type { StatusView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, collection, decision, HOSTILE, page, payout, stuck } from './payment.fixture.ts';

type Answers = Parameters<typeof openConsole>[0];

const open = async (changes: Answers = {}, role: 'viewer' | 'admin' = 'admin') => {
  const { signIn, asked } = openConsole({ ...answers, ...changes });
  const person = await signIn('ama', role);
  const get = async (path: string) => {
    const found = await person.get(path);
    return { ...found, text: textOf(found.html) };
  };
  const changed = () =>
    asked.filter(({ what }) => what.includes(' POST ')).map(({ what, body }) => [what, body]);
  return { person, get, changed };
};

const ended = { ...payout, status: 'COMPLETED', step: 'ended' };
const quiet = {
  at: payout.acceptedAt,
  open: [],
  silent: [],
  polls: [],
  breaks: [],
  breakSums: [],
  comparison: null,
  coverage: null,
  close: null,
  uncompared: [],
  unreported: [],
} satisfies StatusView;
const unsent = { ...payout, step: 'held' };
const CANCEL = 'payout-gateway POST /payments/cancel';
const DECIDE = 'reconciler POST /decisions';
const refusal = (code: string, message: string) => answered(409, { code, message });

describe('the page of a payment', () => {
  it('says first what is wrong, then what can be done, then all that is known with links', async () => {
    const { html, text } = await (await open()).get('/payments/po-1');
    const order = [
      'What is wrong',
      'What can be done',
      'Facts',
      'Timeline',
      'Breaks',
      'Webhooks',
      'Entries',
      'Raw',
    ];
    const places = order.map((title) => html.indexOf(`<h2>${title}</h2>`));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
    expect(text).toContain('Payout po-1: INITIALIZED');
    expect(text).toContain('It should have ended 1 h ago');
    expect(text).toContain('payment: stuck for 5 min , kofi has it: no end after 20 polls');
    expect(text).toContain('upstream is asked next at 27/11/2026 12:00:30');
    expect(text).toContain('1,200.50 GHS');
    for (const path of [
      '/breaks/po-1%2Fstatus',
      '/webhooks/deliveries/po-1-failed',
      // From its first entry there on, on whatever day that was, or since it was accepted.
      '/ledger/accounts/wallet%3Ademo%3AGHS?from=2026-11-27T11%3A55%3A00.000Z',
      '/ledger/accounts/feeIncome%3AGHS?from=2026-11-27T10%3A00%3A00.000Z',
      '/ledger/accounts/railCost%3AGHS?from=2026-11-27T10%3A00%3A00.000Z',
      '/merchants/demo',
      '/rails/upstream',
      '/payments/po-1/decide',
    ])
      expect(html).toContain(`href="${path}"`);
    expect(html).not.toMatch(/href="[^"]*\/accounts\/[^"?]*"/);
  });

  it('shows times as pages do, claimed amounts in the currency of the payment, and no failure in a decision', async () => {
    const lastAt = '2026-11-27T11:58:00.000Z';
    const polled = { at: lastAt, what: 'poll', detail: 'pending', times: 3, lastAt, notKept: 0 };
    const shown = answers['reconciler GET /breaks/po-1%2Fstatus'];
    const decided = { at: lastAt, by: null, what: 'decision applied', text: 'failed: dc-1', amount: null };
    const { get } = await open({
      'reconciler GET /timeline': { ...answers['reconciler GET /timeline'], items: [polled] },
      'reconciler GET /breaks/po-1%2Fstatus': { ...shown, history: [decided] },
    });
    const { html, text } = await get('/payments/po-1');
    expect(text).toContain('pending (3 times, last 27/11/2026 11:58:00 )');
    expect(text).toMatch(/claims .* 1\.00 GHS, signature not required.* 1\.00 GHS not required/);
    expect(html).toContain('<a href="/breaks/po-1%2Fstatus">decision applied</a></td>');
  });

  it('has its entries in the order of time', async () => {
    const [hold] = answers['ledger GET /entries'].items;
    const entries = page({ ...(hold as object), kind: 'capture', at: '2026-11-27T11:56:00.000Z' }, hold);
    const { html } = await (await open({ 'ledger GET /entries': entries })).get('/payments/po-1');
    expect(html.indexOf('<td>hold</td>')).toBeLessThan(html.indexOf('<td>capture</td>'));
  });

  it('says that its rail is silent, that what is not sent yet is paused, and that it is due to be asked', async () => {
    const pause = {
      resumeProposedBy: null,
      scope: 'merchant',
      name: 'demo',
      pausedBy: 'kofi',
      reason: 'audit',
    };
    const paused = [pause, { ...pause, name: 'rival' }].map((one) => ({
      ...one,
      pausedAt: '2026-11-27T11:50:00.000Z',
    }));
    const silent = [{ rail: 'upstream', since: '2026-11-27T11:55:00.000Z', why: 'not asked: circuit open' }];
    const timeline = { ...answers['reconciler GET /timeline'], nextPollAt: '2026-11-27T11:59:00.000Z' };
    const waiting = {
      'reconciler GET /status': { ...quiet, silent },
      'reconciler GET /timeline': timeline,
      'payout-gateway GET /pauses': page(...paused),
    };
    const sent = await (await open(waiting)).get('/payments/po-1');
    expect(sent.text).toContain('upstream has given no answer for 5 min : not asked: circuit open');
    expect(sent.text).toContain('upstream was to be asked at 27/11/2026 11:59:00');
    expect(sent.text).not.toContain('audit');
    const { text } = await (await open({ ...waiting, 'payout-gateway GET /payments': unsent })).get(
      '/payments/po-1',
    );
    expect(text).toContain('paused payouts of demo for 10 min , by kofi: audit');
    expect(text).not.toContain('rival');
    const unclear = { 'payout-gateway GET /payments': { ...payout, step: 'unknown' } };
    expect((await (await open(unclear)).get('/payments/po-1')).text).toContain(
      'no clear answer from the rail yet, open for',
    );
  });

  it('shows what rails and merchants wrote as text', async () => {
    const { html } = await (await open()).get('/payments/po-1');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script>alert');
  });

  it('shows failures only, and fifty lines unless all are asked for', async () => {
    const items = Array.from({ length: 60 }, (_, index) => ({
      at: `2026-11-27T11:00:${String(index).padStart(2, '0')}.000Z`,
      what: 'poll',
      detail: `number ${index}.`,
      times: 1,
      lastAt: '',
      notKept: 0,
    }));
    const { get } = await open({
      'reconciler GET /timeline': { ...answers['reconciler GET /timeline'], items },
    });
    const lines = async (query: string) => (await get(`/payments/po-1${query}`)).text.split('Raw All', 1)[0];
    expect(await lines('')).not.toContain('number 3.');
    expect(await lines('?show=all')).toContain('number 3.');
    const failures = await lines('?show=failures');
    expect(failures).toContain('no clear answer from the rail');
    expect(failures).toContain('webhook attempt 1');
    expect(failures).not.toContain('number 59.');
  });

  it('moves more slowly once nobody waits for it at the till', async () => {
    const young = { ...payout, acceptedAt: '2026-11-27T11:59:00.000Z' };
    const { get } = await open({ 'payout-gateway GET /payments': young });
    expect((await get('/payments/po-1')).html).toContain('hx-trigger="every 2s"');
  });

  it('moves until it ends; what waits for its end then loads it as a page that stays', async () => {
    expect((await (await open()).get('/payments/po-1')).html).toContain('hx-trigger="every 15s"');
    const { person } = await open({ 'payout-gateway GET /payments': ended });
    const last = await (await person.open())('/payments/po-1');
    expect([last.html.includes('<h1>'), last.answer.headers.get('hx-refresh')]).toEqual([true, 'true']);
    const { html } = await person.get('/payments/po-1');
    expect(html).not.toContain('hx-trigger');
    expect(html).not.toContain('<h2>What can be done</h2>');
  });

  it('shows what is known where a service is silent, and that there is nothing of an unknown one', async () => {
    const down = answered(503, { code: 'unavailable', message: 'no database' });
    const { text } = await (await open({ 'ledger GET /entries': down })).get('/payments/po-1');
    expect(text).toContain('What ledger knows is missing here: ledger: no database');
    const { signIn } = openConsole({ 'reconciler GET /decisions': page() });
    const unknown = await (await signIn('ama')).get('/payments/po-9');
    expect([unknown.status, textOf(unknown.html).includes('there is nothing about po-9')]).toEqual([
      404,
      true,
    ]);
  });

  it('offers a viewer nothing to change, and says which role it takes', async () => {
    const { get, changed } = await open({ 'payout-gateway GET /payments': unsent }, 'viewer');
    const { html, text } = await get('/payments/po-1');
    expect(text).toContain('take the role operator');
    for (const path of ['poll', 'cancel', 'decide']) expect(html).not.toContain(`/payments/po-1/${path}"`);
    for (const path of ['cancel', 'decide?outcome=failed'])
      expect((await get(`/payments/po-1/${path}`)).text).toContain('takes the role operator');
    expect(changed()).toEqual([]);
  });

  it('shows a proposal that waits, and offers no second one', async () => {
    const { html, text } = await (await open({ 'reconciler GET /decisions': page(decision) })).get(
      '/payments/po-1',
    );
    expect(text).toContain('“failed” was proposed by you, and waits for an approver who did not propose it');
    expect(html).toContain('href="/approvals/decisions/dc-1"');
    expect(html).not.toContain('/decide"');
  });
});

describe('asking the rail', () => {
  const POLL = 'reconciler POST /polls';

  it('asks once, and leads back to the payment', async () => {
    const { person, changed } = await open({
      [POLL]: answered(202, { reference: 'po-1', nextPollAt: null }),
    });
    expect((await person.post('/payments/po-1/poll')).goesTo).toBe('/payments/po-1');
    expect(changed()).toEqual([[POLL, { reference: 'po-1' }]]);
  });

  it('says why it was refused', async () => {
    const { person } = await open({ [POLL]: refusal('ended', 'it has ended') });
    const { status, html } = await person.post('/payments/po-1/poll');
    expect([status, textOf(html).includes('Not done. reconciler: it has ended')]).toEqual([409, true]);
  });
});

describe('a cancellation', () => {
  it('shows what it would do before it does it', async () => {
    const { get, person, changed } = await open({ 'payout-gateway GET /payments': unsent, [CANCEL]: unsent });
    expect((await get('/payments/po-1')).text).toContain('Cancel this payout of 1,200.50 GHS…');
    const { text } = await get('/payments/po-1/cancel');
    expect(text).toContain('It ends as FAILED, 1,200.50 GHS and our fee of 12.00 GHS go back');
    expect(text).toContain('Cancel the payout of 1,200.50 GHS for good');
    expect((await person.post('/payments/po-1/cancel')).goesTo).toBe('/payments/po-1');
    expect(changed()).toEqual([
      [CANCEL, { reference: 'po-1', dryRun: true }],
      [CANCEL, { reference: 'po-1' }],
    ]);
  });

  it('that is refused says why, in the dry run and after it', async () => {
    const { get, person } = await open({ [CANCEL]: refusal('maybe_sent', 'it may have been sent') });
    const { text, html } = await get('/payments/po-1/cancel');
    expect(text).toContain('it may have been sent');
    expect(html).not.toContain('class="danger"');
    expect((await person.post('/payments/po-1/cancel')).status).toBe(409);
  });

  it('is not offered for what may have been sent', async () => {
    expect((await (await open()).get('/payments/po-1')).html).not.toContain('/cancel"');
  });
});

describe('a proposal', () => {
  const known = { [DECIDE]: (body: { dryRun?: boolean }) => answered(body.dryRun ? 200 : 202, decision) };
  const written = { outcome: 'failed', note: HOSTILE };

  it('shows what it would do, then is sent once under the id that the page had', async () => {
    const { get, person, changed } = await open(known);
    expect((await get('/payments/po-1/decide')).text).toContain('payment: stuck : no end after 20 polls');
    const { html } = await person.post('/payments/po-1/decide', { ...written, step: 'foresee' });
    expect(textOf(html)).toContain('the wallet of demo gets back 1,200.50 GHS');
    expect(textOf(html)).toContain('Propose that the payout of 1,200.50 GHS failed');
    expect(html).not.toContain('<script>alert');
    const [, commandId = ''] = /name="commandId" value="([^"]+)"/.exec(html) ?? [];
    const sent = await person.post('/payments/po-1/decide', { ...written, commandId });
    expect(sent.goesTo).toBe('/approvals/decisions/dc-1');
    expect(commandId).not.toBe('');
    expect(changed()).toEqual([
      [DECIDE, { reference: 'po-1', ...written, dryRun: true }],
      [DECIDE, { reference: 'po-1', ...written, commandId }],
    ]);
  });

  it('that is refused shows the form again with the reason and what was written', async () => {
    const { person } = await open({ [DECIDE]: refusal('ended', 'the payout has ended') });
    const shown = await person.post('/payments/po-1/decide', { ...written, step: 'foresee' });
    expect(textOf(shown.html)).toContain('the payout has ended');
    const { status, html } = await person.post('/payments/po-1/decide', { ...written, commandId: 'cm-7' });
    expect(status).toBe(409);
    expect(html).toContain('the payout has ended');
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('class="danger"');
  });

  it('about a collection is what the customer paid', async () => {
    const paid = { ...decision, reference: 'co-1', outcome: undefined, amount: '90', asked: '1200.5' };
    const { person, changed } = await open({
      'collection-gateway GET /payments': collection,
      'reconciler GET /breaks': page({ ...stuck, kind: 'collection.amount_differs' }),
      [DECIDE]: paid,
    });
    const { html } = await person.post('/payments/co-1/decide', { amount: '90', step: 'foresee' });
    expect(textOf(html)).toContain('What the customer paid');
    expect(textOf(html)).toContain('Propose that 90.00 GHS was received');
    expect(changed()).toEqual([[DECIDE, { reference: 'co-1', amount: '90', dryRun: true }]]);
  });
});
