import type { RailStatementPreviewView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { api, answers as breakAnswers, path, whole } from './breaks.fixture.ts';
import { ESCAPED, EVIL, line, listed, signedIn, statement } from './reconciliation.fixture.ts';

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

  it('shows of a line that is not matched what it has in place of our reference, and the word for its status', async () => {
    const other = { ...line, otherReference: 'INV-7', railReference: null, statusWord: 'Réussi' } as const;
    const of = (one: object) => ({ 'reconciler GET /statements/st-1/records': { items: [one], next: null } });
    const { ama } = await signedIn(of(other));
    const { html } = await ama.get('/reconciliation/statements/st-1');
    expect(textOf(html)).toContain('“ Réussi ” payout reference INV-7 26/11/2026 12:00:00');
    expect(html).toContain('href="/search?q=INV-7"');
    // Of a long number there is only the end, which finds nothing.
    const masked = await signedIn(of({ ...other, otherReference: '***678' }));
    expect((await masked.ama.get('/reconciliation/statements/st-1')).html).not.toContain('/search?q=***');
  });

  it("is where a break shows the rail's own word, and by which reference", async () => {
    const lines = [{ statement: 'st-1', line: 7, receipt: null, reference: 'INV-7', statusWord: EVIL }];
    const { signIn } = openConsole({ ...breakAnswers, [api]: { ...whole, lines } });
    const { html } = await (await signIn('ama')).get(path);
    expect(textOf(html)).toContain('statement st-1 , line 7, reference INV-7 , “');
    expect([html.includes(ESCAPED), html.includes(EVIL)]).toEqual([true, false]);
  });

  it.each(['/reconciliation/statements/new', '/reconciliation/closes/new'])(
    '%s offers every rail that is configured, also before its first comparison',
    async (path) => {
      const { ama } = await signedIn({ 'reconciler GET /drift': listed() });
      const { html } = await ama.get(path);
      const offered = [...html.matchAll(/<option value="([\w-]+)"[^>]*>\1</g)].map(([, rail]) => rail);
      expect(offered).toEqual(['upstream', 'not-compared-yet']);
    },
  );

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
    expect(html.match(/<details[^>]*><summary>\w+/g)).toEqual([
      '<details open><summary>Which',
      '<details><summary>How',
      '<details><summary>What',
      '<details><summary>All',
    ]);
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
    await upload(`${written.toString()}&dryRun=true`);
    expect([JSON.parse(sent()), asked.filter(({ what }) => what === put)]).toEqual([mapping, []]);
    await upload(written.toString());
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
    ['mapping: columns.reference is required: without', 'mapping: “Our reference” is required: without'],
    ['mapping: holds is for files', 'mapping: “Every line is of” is for files'],
    ['mapping: grouping must not be the decimal separator', '“Between thousands” must not be the decimal'],
  ])('whose mapping can not be used is refused in the words of the form: %s', async (message, said) => {
    const refusal = answered(400, { code: 'invalid', message });
    const { html } = await (await signedIn({ 'reconciler POST /statements': refusal })).upload(terms);
    expect(textOf(html)).toContain(said);
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
