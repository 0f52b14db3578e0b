import type { CloseView, RailStatementPreviewView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { close, ESCAPED, EVIL, line, listed, signedIn, statement, wallet } from './reconciliation.fixture.ts';

it.each([
  '/reconciliation',
  '/reconciliation/wallets/upstream/KES',
  '/reconciliation/closes',
  '/reconciliation/closes/new?from=2026-11-26',
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
    // Every amount says of when it is, and our float leads to what moved it on that day.
    expect(text).toContain('Our float 0.00 KES at 27/11/2026 11:00:00');
    for (const path of [
      '/payments/po-old',
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
  const body = { from: '2026-11-26T00:00:00.000Z', to: '2026-11-27T00:00:00.000Z' };

  it('is shown before it is made, and made once', async () => {
    const { ama, calls } = await signedIn();
    const written = { from: '2026-11-26', to: '', rail: '' };
    const { html } = await ama.post('/reconciliation/closes/new', { ...written, step: 'foresee' });
    expect(html).toContain('Make the close: look up 1,200 payments at their rails');
    const made = await ama.post('/reconciliation/closes/new', written);
    expect(made.goesTo).toBe('/reconciliation/closes/day-1');
    expect(calls('POST')).toEqual([
      { what: 'reconciler POST /closes?dryRun=true', body, by: 'ama' },
      { what: 'reconciler POST /closes', body, by: 'ama' },
    ]);
  });

  it.each([
    ['2026-11-99', 'from and to must be days'],
    ['2026-11-31', 'from and to must be days'],
    ['2026-11-27', 'it can be closed later, from 28/11/2026 00:00:00 on'],
  ])(
    'that cannot be made is refused with the reason, and keeps what was written: %s',
    async (from, reason) => {
      const message = 'to: it can be closed later, from 2026-11-28T00:00:00.000Z on';
      const refusal = answered(409, { code: 'not_over', message });
      const { ama } = await signedIn({
        'reconciler POST /closes': refusal,
        'reconciler POST /closes?dryRun=true': refusal,
      });
      const foreseen = await ama.post('/reconciliation/closes/new', { from, step: 'foresee' });
      expect(textOf(foreseen.html)).toContain(reason);
      const answer = await ama.post('/reconciliation/closes/new', { from });
      expect([409, 422]).toContain(answer.status);
      expect(textOf(answer.html)).toContain(reason);
      expect(answer.html).toContain(`value="${from}"`);
    },
  );

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
    const running = { ...close, status: 'asking', done: 1, finishedAt: null } satisfies CloseView;
    const { ama } = await signedIn({ 'reconciler GET /closes/day-1': running });
    const page = await ama.get('/reconciliation/closes/day-1');
    expect(page.html).toContain('<progress max="3" value="1"');
    expect(page.html).toContain('every 2s');
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

describe('a statement', () => {
  const terms = 'rail=upstream&mapping=daily&currency=kes&from=2026-11-26&to=2026-11-26&sha256=ab';
  const preview = {
    ...statement,
    id: null,
    dryRun: true,
    problems: [line],
  } satisfies RailStatementPreviewView;

  it('shows its lines with our side, and what the mapping lacks', async () => {
    const { ama } = await signedIn();
    const { html } = await ama.get('/reconciliation/statements/st-1');
    const text = textOf(html);
    expect(text).toContain('the file has 4: 3 that are read, 1 heading');
    expect(text).toContain('More lines can be read with this in the mapping');
    expect(html).toContain('href="/breaks/line-1%2Fexistence"');
    expect(html).toContain('href="/reconciliation/statements/st-1?result=not_in_books"');
  });

  it('tells a line that is there twice from the other, by its number, the reference and the time', async () => {
    const twice = { ...line, id: '3', result: 'duplicate', payment: 'po-7', reason: null } as const;
    const used = { ...twice, id: '2', line: 2, result: 'matched', railReference: 'R-2' } as const;
    const records = { 'reconciler GET /statements/st-1/records': { items: [used, twice], next: null } };
    const { ama } = await signedIn(records);
    const text = textOf((await ama.get('/reconciliation/statements/st-1')).html);
    expect(text).toContain('line 2 names this payment too');
    expect(text).toContain("the rail's reference R-2 26/11/2026 12:00:00");
  });

  it('is described by fields that follow the schema of mappings, which can be kept', async () => {
    const put = 'reconciler PUT /statement-mappings/upstream-daily';
    const { upload, asked, ama } = await signedIn({
      'reconciler POST /statements': answered(202, { ...statement, status: 'matching', counts: null }),
      'reconciler POST /statements?dryRun=true': preview,
      [put]: { name: 'upstream-daily', by: 'ama', mapping: {} },
    });
    const { html } = await ama.get('/reconciliation/statements/new');
    for (const name of ['columns.reference', 'columns.fee', 'delimiter', 'time.format', 'statuses.completed'])
      expect(html).toContain(`name="${name}"`);
    const written = new URLSearchParams({
      rail: 'upstream',
      'columns.reference': 'Our Ref',
      'columns.amount': '4',
      delimiter: '"\\t"',
      header: 'true',
      'time.format': '"ISO"',
      'statuses.completed': 'OK, Done',
      sha256: 'ab',
      keepAs: 'upstream-daily',
    });
    const mapping = {
      delimiter: '\t',
      header: true,
      columns: { reference: 'Our Ref', amount: 4 },
      time: { format: 'ISO' },
      statuses: { completed: ['OK', 'Done'] },
    };
    const sent = () =>
      new URL(asked.at(-1)?.what.split(' ')[2] ?? '', 'http://x').searchParams.get('mapping') ?? '';
    await upload(`${written}&dryRun=true`);
    expect([JSON.parse(sent()), asked.filter(({ what }) => what === put)]).toEqual([mapping, []]);
    await upload(`${written}`);
    expect(asked.filter(({ what }) => what === put)).toEqual([{ what: put, body: mapping, by: 'ama' }]);
    expect(sent()).toBe('upstream-daily');
  });

  it('is relayed with its terms, as it is', async () => {
    const { upload, asked } = await signedIn({
      'reconciler POST /statements': answered(202, { ...statement, status: 'matching', counts: null }),
    });
    const answer = await upload(terms);
    expect([answer.status, answer.answer.headers.get('hx-redirect')]).toEqual([
      200,
      '/reconciliation/statements/st-1',
    ]);
    const { what, body } = asked.at(-1) ?? { what: '' };
    expect(body).toBe('a,b\r\n1,2');
    expect(Object.fromEntries(new URL(what.split(' ')[2] ?? '', 'http://x').searchParams)).toEqual({
      rail: 'upstream',
      mapping: 'daily',
      currency: 'KES',
      sha256: 'ab',
      from: '2026-11-26T00:00:00.000Z',
      to: '2026-11-27T00:00:00.000Z',
    });
  });

  it('is tried out on its first lines, without the period', async () => {
    const { upload, asked } = await signedIn({ 'reconciler POST /statements': preview });
    const { status, html } = await upload(`${terms}&dryRun=true`);
    expect([status, html.includes(EVIL), html.includes(ESCAPED)]).toEqual([200, false, true]);
    expect(textOf(html)).toContain('Nothing was kept, and no break was opened.');
    expect(asked.at(-1)?.what).not.toContain('from=');
  });

  it('that was sent before leads to what it gave, and one that is refused says why', async () => {
    const known = await (await signedIn({ 'reconciler POST /statements': statement })).upload(terms);
    expect(textOf(known.html)).toContain('ama has sent this file with this mapping before');
    const refusal = answered(400, { code: 'invalid', message: `mapping: ${EVIL}` });
    const refused = await (await signedIn({ 'reconciler POST /statements': refusal })).upload(terms);
    expect([refused.status, refused.html.includes(ESCAPED)]).toEqual([422, true]);
  });

  it.each([
    ['of another sign-in', { 'x-csrf-token': 'another' }, 403],
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of more than a file may have', { 'content-length': '268435457' }, 413],
    ['without a length', { 'content-length': '' }, 413],
  ])('%s is refused, and nothing is relayed', async (_, headers, status) => {
    const { upload, calls } = await signedIn();
    expect((await upload(terms, headers)).status).toBe(status);
    expect(calls('POST')).toEqual([]);
  });

  it('is not sent without the script, and the form says so with what was written', async () => {
    const { ama } = await signedIn();
    const answer = await ama.post('/reconciliation/statements/new', { currency: 'KES', mapping: 'daily' });
    expect([answer.status, textOf(answer.html).includes('pesewa reconcile match')]).toEqual([422, true]);
    expect(answer.html).toContain('value="KES"');
  });

  it('leads who is no longer signed in to the sign-in', async () => {
    const { visitor } = openConsole();
    const headers = { 'x-csrf-token': 'x', 'hx-request': 'true', 'content-length': '1' };
    const path = '/reconciliation/statements/new/file';
    const answer = await visitor().send(path, { method: 'POST', body: 'x', headers });
    expect([answer.status, answer.answer.headers.get('hx-redirect')]).toEqual([401, '/sign-in?next=%2F']);
  });
});
