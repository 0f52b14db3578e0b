import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, changesOf, evil, path, whole } from './breaks.fixture.ts';

describe('the queue of breaks', () => {
  it('passes filters and cursor on, and shows unresolved breaks by default', async () => {
    const console = openConsole(answers);
    const ama = await console.signIn('ama');
    await ama.get('/breaks?kind=wallet.drift&currency=ghs&owner=ama&olderThan=1d&cursor=4.y');
    expect(console.asked.map(({ what }) => what)).toContain(
      'reconciler GET /breaks?kind=wallet.drift&owner=ama&currency=GHS&olderThan=1d&status=unresolved&cursor=4.y&limit=50',
    );
    const { html } = await ama.get('/breaks?status=any&kind=wallet.drift');
    expect(console.asked.at(-1)?.what).toBe('reconciler GET /breaks?kind=wallet.drift&limit=50');
    expect(html).toContain('/breaks?kind=wallet.drift&amp;status=any&amp;cursor=5.x');
    expect(html).toContain(`href="${path}"`);
    expect(html).toContain('/reconciliation/wallets/upstream/GHS');
    expect(html).not.toContain('<script>alert');
  });

  it('is downloaded as CSV as it is narrowed', async () => {
    const console = openConsole({ ...answers, 'reconciler GET /breaks/export': 'id,kind\r\n' });
    const ama = await console.signIn('ama', 'viewer');
    const { html } = await ama.get('/breaks?currency=ghs&olderThan=1d');
    const [, link = ''] = /href="([^"]+)">Download these as CSV/.exec(html) ?? [];
    const file = await ama.get(link.replaceAll('&amp;', '&'));
    expect([file.html, file.answer.headers.get('content-type')]).toEqual(['id,kind\r\n', 'text/csv']);
    expect(console.asked.at(-1)?.what).toBe(
      'reconciler GET /breaks/export?currency=GHS&olderThan=1d&status=unresolved',
    );
    await ama.get('/breaks/export?status=any');
    expect(console.asked.at(-1)?.what).toBe('reconciler GET /breaks/export');
  });

  it('says what would stand here, or that nothing matches', async () => {
    const console = openConsole({ ...answers, 'reconciler GET /breaks': { items: [], next: null } });
    const ama = await console.signIn('ama');
    expect(textOf((await ama.get('/breaks')).html)).toContain('No break is open');
    expect(textOf((await ama.get('/breaks?owner=ama')).html)).toContain('Clear the filters');
  });

  it('shows what is wrong with a filter, and the filters', async () => {
    const refusal = answered(400, { code: 'invalid', message: 'olderThan must be minutes, hours or days' });
    const ama = await openConsole({ ...answers, 'reconciler GET /breaks': refusal }).signIn('ama');
    const { html } = await ama.get('/breaks?olderThan=soon');
    expect(html).toContain('olderThan must be minutes');
    expect(html).toContain('value="soon"');
  });

  it('stands though the service of its kinds is silent, and hides no other failure', async () => {
    const silent = { ...answers, 'reconciler GET /status': answered(503, {}) };
    const ama = await openConsole(silent).signIn('ama');
    expect((await ama.get('/breaks')).html).toContain(`href="${path}"`);
    const forbidden = answered(403, { code: 'forbidden', message: 'a wrong token' });
    const kofi = await openConsole({ ...answers, 'reconciler GET /status': forbidden }).signIn('kofi');
    expect((await kofi.get('/breaks')).status).toBe(403);
  });

  const other = { ...whole, id: 'po-2/status', version: 8 };
  const otherPath = '/breaks/po-2%2Fstatus';
  const fields = { 'pick-0': whole.id, 'version-0': '3', 'pick-1': other.id, 'version-1': '8' };
  const chosen = { ...answers, [`reconciler GET ${otherPath}`]: other };

  it.each([
    [answered(409, { code: 'resolved', message: 'it is resolved' }), 'failed reconciler: it is resolved'],
    [
      answered(503, { message: 'no database' }),
      'failed reconciler: no database. What you asked for may have',
    ],
  ])('changes the chosen ones each by itself, and lists what became of each', async (failure, why) => {
    const console = openConsole({
      ...chosen,
      [`reconciler POST ${path}/explain`]: whole,
      [`reconciler POST ${otherPath}/explain`]: failure,
    });
    const ama = await console.signIn('ama');
    const { html } = await ama.get(`/breaks/bulk/explain?pick-0=${whole.id}&pick-4=${other.id}`);
    expect(html).toContain('Explain these 2 breaks');
    const page = await ama.post('/breaks/bulk/explain', { ...fields, explanation: evil });
    expect(changesOf(console)).toEqual([
      [`reconciler POST ${path}/explain`, { explanation: evil, version: 3 }],
      [`reconciler POST ${otherPath}/explain`, { explanation: evil, version: 8 }],
    ]);
    expect(textOf(page.html)).toContain('Explain breaks: 1 of 2 done');
    expect(textOf(page.html)).toMatch(/upstream:GHS\/balance done/);
    expect(textOf(page.html)).toContain(`po-2/status ${why}`);
    const again = { step: 'foresee', 'pick-0': other.id, explanation: evil };
    expect(page.html).toContain('name="step" value="foresee"');
    expect(page.html).toContain(`name="pick-0" value="${other.id}"`);
    const retried = await ama.post('/breaks/bulk/explain', again);
    expect(retried.html).toContain('name="version-0" value="8"');
    expect(retried.html).toContain('value="&lt;script&gt;');
  });

  it('have one form to a page, and no two fields of one id', async () => {
    const ama = await openConsole(chosen).signIn('ama');
    const { html } = await ama.get(`/breaks/bulk/assign?pick-0=${whole.id}&pick-1=${other.id}`);
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lets viewers choose nothing', async () => {
    const viewer = await openConsole(answers).signIn('esi', 'viewer');
    expect((await viewer.get('/breaks')).html).not.toContain('type="checkbox"');
    expect((await viewer.get(`/breaks/bulk/explain?pick-0=${whole.id}`)).html).not.toContain('Explain these');
  });
});
