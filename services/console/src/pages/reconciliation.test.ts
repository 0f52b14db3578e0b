import type { CloseView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, textOf } from '../console.fixture.ts';
import { close, ESCAPED, EVIL, listed, signedIn, wallet } from './reconciliation.fixture.ts';

it.each([
  '/reconciliation',
  '/reconciliation/wallets/upstream/KES',
  '/reconciliation/closes',
  '/reconciliation/closes/new?date=2026-11-26',
  '/reconciliation/closes/day-1',
  '/reconciliation/statements',
  '/reconciliation/statements/st-1',
  '/reconciliation/statements/new',
])('%s shows what others wrote as text', async (path) => {
  const { ama } = await signedIn();
  const { status, html } = await ama.get(path);
  expect([status, html.includes(EVIL), html.includes('<script>alert')]).toEqual([200, false, false]);
});

describe('the page of reconciliation', () => {
  it('leads to wallets, closes, statements and what an audit found', async () => {
    const { ama } = await signedIn();
    const { html } = await ama.get('/reconciliation');
    for (const path of [
      '/reconciliation/wallets/upstream/KES',
      '/ledger/accounts/float%3Aupstream%3AKES',
      '/reconciliation/closes/day-1?result=differs',
      '/reconciliation/statements/st-1?result=not_in_books',
      '/breaks?kind=coverage.missing',
    ])
      expect(html).toContain(`href="${path}"`);
    expect(html).toContain(ESCAPED);
  });

  it('compares at once, and says which wallet was not compared', async () => {
    const { ama, calls } = await signedIn({
      'reconciler GET /drift': listed(wallet, { ...wallet, id: 'rn-0', currency: 'GHS' }),
    });
    const answer = await ama.post('/reconciliation/compare');
    expect([answer.status, calls('POST /compare').length]).toEqual([409, 1]);
    expect(textOf(answer.html)).toContain('Not compared: upstream GHS.');
    const all = await (await signedIn()).ama.post('/reconciliation/compare');
    expect([all.status, all.goesTo]).toEqual([303, '/reconciliation']);
  });

  it('starts an audit once', async () => {
    const { ama, calls } = await signedIn();
    expect((await ama.post('/reconciliation/audits')).goesTo).toBe('/reconciliation');
    expect(calls('POST /coverage')).toHaveLength(1);
  });

  it('shows a viewer no buttons, but the role that they take', async () => {
    const { ama } = await signedIn({}, 'viewer');
    const { html } = await ama.get('/reconciliation');
    expect([html.includes('/reconciliation/compare'), html.includes('takes the role operator')]).toEqual([
      false,
      true,
    ]);
  });
});

describe('the page of a wallet', () => {
  it('says what was found, since when, and which payments may be the cause', async () => {
    const { ama, asked } = await signedIn();
    const { html } = await ama.get('/reconciliation/wallets/upstream/KES?cursor=rn-9');
    const text = textOf(html);
    expect(text).toContain('upstream KES: out of range');
    expect(text).toContain('+1,235.00 KES is unexplained; unexplained since 27/11/2026 10:45:00');
    expect(text).toContain('The drift went from 0.00 KES to +1,240.00 KES at 27/11/2026 11:00:00.');
    expect(html).toMatch(/<polyline points="0,96 (?:\d+,\d+ )*1000,4"/);
    expect(text).toMatch(/0\.00 KES to \+1,240\.00 KES 27\/11\/2026 11:00:00 The same as a table/);
    // Every amount says of when it is, and our float leads to what moved it on that day.
    expect(text).toContain('Our float 0.00 KES at 27/11/2026 11:00:00');
    for (const path of [
      '/payments/co-1',
      '/breaks/upstream%3AKES%2Fbalance',
      '/ledger/accounts/float%3Aupstream%3AKES?from=2026-11-27&amp;to=2026-11-27',
    ])
      expect(html).toContain(`href="${path}"`);
    expect(asked.map(({ what }) => what)).toContain(
      'reconciler GET /runs?rail=upstream&currency=KES&cursor=rn-9&limit=200',
    );
  });

  it('says where nothing was compared', async () => {
    const { ama } = await signedIn({ 'reconciler GET /runs': listed() });
    expect(textOf((await ama.get('/reconciliation/wallets/upstream/XOF')).html)).toContain(
      'not compared yet',
    );
  });
});

describe('a close', () => {
  const body = { date: '2026-11-26' };

  it('is made once', async () => {
    const { ama, calls } = await signedIn();
    const written = { date: '2026-11-26', rail: '' };
    const made = await ama.post('/reconciliation/closes/new', written);
    expect(made.goesTo).toBe('/reconciliation/closes/day-1');
    expect(calls('POST')).toEqual([{ what: 'reconciler POST /closes', body, by: 'ama' }]);
  });

  it('that cannot be made is refused with the reason, and keeps what was written', async () => {
    const message = 'date: it can be closed later, from 2026-11-28T00:00:00.000Z on';
    const refusal = answered(409, { code: 'not_over', message });
    const { ama } = await signedIn({ 'reconciler POST /closes': refusal });
    const answer = await ama.post('/reconciliation/closes/new', { date: '2026-11-27' });
    expect(answer.status).toBe(409);
    expect(textOf(answer.html)).toContain('it can be closed later, from 28/11/2026 00:00:00 on');
    expect(answer.html).toContain('value="2026-11-27"');
  });

  it('shows both sides of a payment; filter and cursor go to the reconciler', async () => {
    const { ama, asked } = await signedIn();
    const { html } = await ama.get('/reconciliation/closes/day-1?result=differs&cursor=po-0');
    expect(textOf(html)).toContain('COMPLETED, 100.00 KES, fee 1.00 KES');
    expect(textOf(html)).toContain('amount -10.00 KES');
    for (const path of [
      '/payments/po-1',
      '/breaks/po-1%2Famount',
      '/reconciliation/closes/day-1?result=differs&amp;cursor=po-1',
      '/reconciliation/closes/day-1/export?result=differs',
    ])
      expect(html).toContain(`href="${path}"`);
    expect(asked.map(({ what }) => what)).toContain(
      'reconciler GET /closes/day-1/records?result=differs&cursor=po-0',
    );
  });

  it('shows its progress while it runs, and is then loaded once more', async () => {
    const running = {
      ...close,
      status: 'asking',
      running: true,
      done: 1,
      finishedAt: null,
    } satisfies CloseView;
    const { ama } = await signedIn({ 'reconciler GET /closes/day-1': running });
    const page = await ama.get('/reconciliation/closes/day-1');
    expect(page.html).toContain('<progress max="3" value="1"');
    expect(page.html).toContain('every 2s');
    const again = { ...close, running: true } satisfies CloseView;
    const { ama: other } = await signedIn({ 'reconciler GET /closes/day-1': again });
    expect((await other.get('/reconciliation/closes/day-1')).html).toContain('every 2s');
    const load = await (await signedIn()).ama.open();
    const part = await load('/reconciliation/closes/day-1');
    expect([part.html.includes('<h1>'), part.answer.headers.get('hx-refresh')]).toEqual([true, 'true']);
  });

  it('is downloaded as it comes, of one result; a refusal is a page', async () => {
    const { ama, asked } = await signedIn();
    const file = await ama.get('/reconciliation/closes/day-1/export?result=differs');
    expect([file.html, file.answer.headers.get('content-disposition')]).toEqual([
      'reference\r\npo-1\r\n',
      'attachment; filename="a.csv"',
    ]);
    expect(asked.at(-1)?.what).toBe('reconciler GET /closes/day-1/export?result=differs');
    const refusal = answered(409, { code: 'not_done', message: 'id: the close is not done' });
    const early = await signedIn({ 'reconciler GET /closes/day-1/export': refusal });
    const answer = await early.ama.get('/reconciliation/closes/day-1/export');
    expect([answer.status, textOf(answer.html).includes('the close is not done')]).toEqual([409, true]);
  });
});
