import type {
  CallbackView,
  PauseView,
  RejectedView,
  StatusView,
  WalletComparisonView,
} from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';
import { availability } from './availability.fixture.ts';

const evil = `<script>alert(1)</script>"'`;
const at = '2026-11-27T11:00:00.000Z';
const page = (items: readonly unknown[], next: string | null = null) => ({ items, next });

const status = {
  at,
  open: [{ kind: 'payout', count: 4, states: [], overdue: { count: 0, oldest: [] } }],
  silent: [{ rail: 'upstream', since: at, why: evil }],
  polls: [{ rail: 'upstream', configured: true, due: 9, overdue: 4, oldestDueAt: at }],
  breaks: [],
  breakSums: [],
  comparison: null,
  coverage: null,
  close: null,
  uncompared: [],
  unreported: [],
} satisfies StatusView;

const wallet = {
  id: 'rn-1',
  at,
  rail: 'upstream',
  configured: true,
  currency: 'KES',
  railBalance: '90',
  float: '100',
  drift: '-10',
  lower: '0',
  upper: '0',
  withinRange: false,
  finding: 'out_of_range',
  explainedBy: [],
  unexplained: '-10',
  unexplainedSince: at,
  candidates: [],
} satisfies WalletComparisonView;

const verdict = { address: 'allowed', signature: 'verified', proven: true } as const;
const callback = (id: string, rail: string): CallbackView => ({
  id,
  rail,
  kind: 'payout',
  digest: 'd',
  messageId: null,
  state: 'failed',
  reference: null,
  claimedStatus: null,
  claimedAmount: null,
  claimedCurrency: null,
  claimedFee: null,
  failure: evil,
  deliveries: 2,
  timesPassedOn: 0,
  conflicts: 0,
  otherDigests: [],
  passedOnDigest: null,
  verdict,
  receivedAt: at,
  lastReceivedAt: at,
  passedOnAt: null,
  forgetAt: at,
});
const rejected = {
  id: 'rj-1',
  rail: 'upstream',
  kind: 'payout',
  reason: 'signature.wrong',
  digest: 'd',
  forwardedFor: evil,
  verdict,
  receivedAt: at,
} satisfies RejectedView;

const paused = (resumeProposedBy: string | null): PauseView => ({
  scope: 'rail',
  name: 'upstream',
  reason: evil,
  pausedBy: 'ama',
  pausedAt: at,
  resumeProposedBy,
});
const pauses = 'payout-gateway GET /pauses';
const answers: Answers = {
  'reconciler GET /status': status,
  'reconciler GET /drift': page([wallet]),
  [pauses]: page([paused(null)]),
  'collection-gateway GET /pauses': page([]),
  'payout-gateway GET /availability': availability(),
  'collection-gateway GET /availability': availability(),
  'webhook-ingress GET /callbacks': page([callback('cb-1', 'upstream'), callback('cb-2', 'other')]),
  'webhook-ingress GET /callbacks/rejected': page([rejected], 'rj-1'),
};

describe('rails', () => {
  it('are listed with what waits, since when they are silent, and what is paused', async () => {
    const { signIn } = openConsole(answers);
    const { html } = await (await signIn('ama')).get('/rails');
    expect(textOf(html)).toContain('4 payouts are open at all rails');
    expect(html).toContain('href="/reconciliation/wallets/upstream/KES">KES</a>');
    expect(html).toContain('href="/rails/resume?what=payouts&amp;scope=rail&amp;name=upstream"');
    expect(html).toContain('href="/payments?of=payouts&amp;status=open">4 payouts are open</a>');
    expect(html).not.toContain('<script>alert');
  });

  it('can be paused while the reconciler gives no answer', async () => {
    const silent = answered(503, { code: 'unavailable', message: 'no' });
    const { signIn } = openConsole({ ...answers, 'reconciler GET /status': silent });
    const ama = await signIn('ama');
    expect((await ama.get('/rails')).html).toContain('href="/rails/pause"');
    const { status: code, html } = await ama.get('/rails/upstream');
    expect([
      code,
      html.includes('href="/rails/pause?what=payouts&amp;scope=rail&amp;name=upstream"'),
    ]).toEqual([200, true]);
  });
});

describe('a rail', () => {
  it('shows its wallets and its callbacks alone', async () => {
    const { signIn, asked } = openConsole(answers);
    const { html } = await (await signIn('ama')).get('/rails/upstream?reason=signature.wrong&cursor=rj-0');
    expect(html).toContain('cb-1');
    expect(html).not.toContain('cb-2');
    expect(html).toContain('href="/ledger/accounts/float%3Aupstream%3AKES"');
    expect(html).toContain('href="/rails/upstream?reason=signature.wrong&amp;cursor=rj-1">Next page</a>');
    expect(html).not.toContain('<script>alert');
    expect(asked.map(({ what }) => what)).toContain(
      'webhook-ingress GET /callbacks/rejected?rail=upstream&reason=signature.wrong&after=rj-0',
    );
  });

  it('asks for no more callbacks that could not be read than it can show, and says so', async () => {
    const many = Array.from({ length: 100 }, (_, index) => callback(`cb-${index}`, 'other'));
    const callbacks = { 'webhook-ingress GET /callbacks': page(many, 'cb-99') };
    const { signIn, asked } = openConsole({ ...answers, ...callbacks });
    const { html } = await (await signIn('ama')).get('/rails/upstream');
    expect(textOf(html)).toContain('None of the 100 oldest of all rails is of this one');
    const calls = asked.map(({ what }) => what);
    expect(calls.filter((what) => /GET \/callbacks\?/.test(what))).toHaveLength(1);
    for (const once of ['GET /status', 'GET /drift'])
      expect(calls.filter((what) => what === `reconciler ${once}`)).toHaveLength(1);
  });

  it('that is none is not found', async () => {
    const { signIn } = openConsole(answers);
    expect((await (await signIn('ama')).get('/rails/nothing')).status).toBe(404);
  });

  it.each([
    ['redrive', answered(202, { id: 'cb-1', state: 'passed_on' })],
    ['dismiss', { id: 'cb-1', state: 'dismissed' }],
  ])('has a callback that %s decides by one call', async (what, answer) => {
    const called = `webhook-ingress POST /callbacks/cb-1/${what}`;
    const { signIn, asked } = openConsole({ ...answers, [called]: answer });
    const ama = await signIn('ama');
    const { html } = await ama.get(`/rails/upstream/callbacks/cb-1/${what}`);
    expect(textOf(html)).toContain(what === 'dismiss' ? 'its bytes stay' : 'Read it again, and pass it on');
    expect(html).not.toContain('<script>alert');
    const done = await ama.post(`/rails/upstream/callbacks/cb-1/${what}`);
    expect([done.status, done.goesTo]).toEqual([303, '/rails/upstream']);
    expect(asked.filter((one) => one.what === called)).toHaveLength(1);
  });

  it('says why a callback still can not be read', async () => {
    const refusal = answered(409, { code: 'failed', message: 'still unreadable' });
    const { signIn } = openConsole({ ...answers, 'webhook-ingress POST /callbacks/cb-1/redrive': refusal });
    const done = await (await signIn('ama')).post('/rails/upstream/callbacks/cb-1/redrive');
    expect([done.status, textOf(done.html).includes('still unreadable')]).toEqual([409, true]);
  });

  it('offers changes to those alone who may make them', async () => {
    const { signIn } = openConsole(answers);
    const { html } = await (await signIn('kofi', 'viewer')).get('/rails/upstream');
    for (const hidden of ['Pause payouts', 'Dismiss it', 'Resume…']) expect(html).not.toContain(hidden);
    expect(html).toContain('takes the role operator');
  });
});

describe('a pause', () => {
  const pause = 'payout-gateway POST /pauses';
  const subject = { what: 'payouts', scope: 'rail', name: 'upstream' };

  it('names what it stops, and is one call with the reason', async () => {
    const { signIn, asked } = openConsole({ ...answers, [pause]: paused(null) });
    const ama = await signIn('ama');
    const form = await ama.get('/rails/pause?what=payouts&scope=rail&name=upstream');
    expect(textOf(form.html)).toContain('Pause payouts at upstream');
    const done = await ama.post('/rails/pause', { ...subject, reason: 'it pays twice' });
    expect(done.goesTo).toBe('/rails/upstream');
    const body = { scope: 'rail', name: 'upstream', reason: 'it pays twice' };
    expect(asked.filter(({ what }) => what === pause)).toEqual([{ what: pause, body, by: 'ama' }]);
  });

  it.each([{ what: 'payouts' }, { what: 'payouts', scope: 'merchant' }, { scope: 'all' }])(
    'takes nothing for everything: %j',
    async (fields) => {
      const { signIn, asked } = openConsole(answers);
      const done = await (await signIn('ama')).post('/rails/pause', { ...fields, reason: 'drill' });
      expect(done.status).toBe(422);
      expect(asked.filter(({ what }) => what.includes('POST'))).toEqual([]);
    },
  );

  it('that is refused is shown again with what was written', async () => {
    const refusal = answered(404, { code: 'not_found', message: 'there is no such merchant' });
    const { signIn } = openConsole({ ...answers, [pause]: refusal });
    const fields = { what: 'payouts', scope: 'merchant', name: evil, reason: evil };
    const done = await (await signIn('ama')).post('/rails/pause', fields);
    expect(done.status).toBe(422);
    expect(textOf(done.html)).toContain('there is no such merchant');
    expect(done.html).not.toContain('<script>alert');
  });

  const resume = 'payout-gateway POST /pauses/resume';
  const path = '/rails/resume?what=payouts&scope=rail&name=upstream';
  const { what: _, ...body } = subject;

  it('is proposed to be resumed by one button, which can not resume', async () => {
    const { signIn, asked } = openConsole({ ...answers, [resume]: answered(202, paused('ama')) });
    const ama = await signIn('ama', 'operator');
    const { html } = await ama.get(path);
    expect(textOf(html)).toContain('Propose to resume payouts at upstream');
    expect(html).not.toContain('name="approves"');
    expect(html).toContain(`name="pausedAt" value="${at}"`);
    expect((await ama.post('/rails/resume', { ...subject, pausedAt: at })).goesTo).toBe(path);
    expect(asked.at(-1)).toEqual({ what: resume, body: { ...body, pausedAt: at }, by: 'ama' });
  });

  it('is resumed by another button, of an approver who did not propose it, as it was seen', async () => {
    const given = { ...answers, [pauses]: page([paused('ama')]), [resume]: { resumed: true } };
    const { signIn, asked } = openConsole(given);
    const own = await (await signIn('ama')).get(path);
    expect(textOf(own.html)).toContain('You proposed to resume it: an approver');
    expect(own.html).not.toContain('name="approves"');
    const operator = await (await signIn('esi', 'operator')).get(path);
    expect(textOf(operator.html)).toContain('takes the role approver');
    const kofi = await signIn('kofi', 'approver');
    const { html } = await kofi.get(path);
    expect(textOf(html)).toContain('Resume payouts at upstream, as ama proposed');
    const seen = { approves: 'ama', pausedAt: at };
    for (const [name, value] of Object.entries(seen))
      expect(html).toContain(`name="${name}" value="${value}"`);
    expect((await kofi.post('/rails/resume', { ...subject, ...seen })).goesTo).toBe('/rails/upstream');
    expect(asked.at(-1)?.body).toEqual({ ...body, ...seen });
  });

  it('that somebody else proposes to resume meanwhile is shown again with who did', async () => {
    const refusal = answered(409, { code: 'proposed_already', message: 'esi has proposed to resume it' });
    const { signIn } = openConsole({ ...answers, [pauses]: page([paused('esi')]), [resume]: refusal });
    const done = await (await signIn('ama', 'approver')).post('/rails/resume', subject);
    expect(done.status).toBe(409);
    for (const shown of ['esi has proposed to resume it', 'Resume payouts at upstream, as esi proposed'])
      expect(textOf(done.html)).toContain(shown);
  });

  it('that is over meanwhile says where to see who ended it', async () => {
    const refusal = answered(404, { code: 'not_found', message: 'this is not paused' });
    const { signIn } = openConsole({ ...answers, [pauses]: page([]), [resume]: refusal });
    const done = await (await signIn('ama')).post('/rails/resume', { ...subject, approves: 'esi' });
    expect(done.html).toContain('href="/actions"');
    expect(textOf(done.html)).toContain('this is not paused');
  });

  it('is the state of its rail, since when and why, on every page of rails', async () => {
    const given = { 'reconciler GET /status': { ...status, silent: [] } };
    const { signIn } = openConsole({ ...answers, ...given });
    const ama = await signIn('ama');
    for (const shown of ['/rails', '/rails/upstream']) {
      const text = textOf((await ama.get(shown)).html);
      expect(text).toContain('paused payouts at upstream for 1 h , by ama: &lt;script');
      expect(text).not.toContain(' up ');
    }
  });

  it('of one gateway is shown while the other gives no answer, which is named', async () => {
    const silent = answered(503, { code: 'unavailable', message: 'collections are silent' });
    const { signIn } = openConsole({ ...answers, 'collection-gateway GET /pauses': silent });
    const text = textOf((await (await signIn('ama')).get('/rails')).html);
    for (const shown of ['payouts at upstream', 'collections are silent', 'Each rail, and what waits there'])
      expect(text).toContain(shown);
  });
});
