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

  it('says what would stand here, or that nothing matches', async () => {
    const console = openConsole({ 'reconciler GET /breaks': { items: [], next: null } });
    const ama = await console.signIn('ama');
    expect(textOf((await ama.get('/breaks')).html)).toContain('No break is open');
    expect(textOf((await ama.get('/breaks?owner=ama')).html)).toContain('Clear the filters');
  });

  it('shows what is wrong with a filter, and the filters', async () => {
    const refusal = answered(400, { code: 'invalid', message: 'olderThan must be minutes, hours or days' });
    const ama = await openConsole({ 'reconciler GET /breaks': refusal }).signIn('ama');
    const { html } = await ama.get('/breaks?olderThan=soon');
    expect(html).toContain('olderThan must be minutes');
    expect(html).toContain('value="soon"');
  });

  it('changes the chosen ones by one reason, each by itself, and lists what became of each', async () => {
    const other = { ...whole, id: 'po-2/status', version: 8 };
    const otherPath = '/breaks/po-2%2Fstatus';
    const refusal = answered(409, { code: 'resolved', message: 'the break is resolved: reopen it' });
    const console = openConsole({
      ...answers,
      [`reconciler GET ${otherPath}`]: other,
      [`reconciler POST ${path}/explain`]: whole,
      [`reconciler POST ${otherPath}/explain`]: refusal,
    });
    const ama = await console.signIn('ama');
    const { html } = await ama.get(`/breaks/bulk?break-0=${whole.id}&break-4=${other.id}`);
    expect(html).toContain('Explain these 2 breaks');
    const fields = { 'break-0': whole.id, 'version-0': '3', 'break-1': other.id, 'version-1': '8' };
    const page = await ama.post('/breaks/bulk', { ...fields, act: 'explain', text: evil });
    expect(changesOf(console)).toEqual([
      [`reconciler POST ${path}/explain`, { explanation: evil, version: 3 }],
      [`reconciler POST ${otherPath}/explain`, { explanation: evil, version: 8 }],
    ]);
    expect(page.status).toBe(409);
    expect(textOf(page.html)).toMatch(/ done .*not done: reconciler: the break is resolved: reopen it/);
    expect(page.html).toContain('value="&lt;script&gt;');
  });

  it('leads back to the chosen ones if all are done', async () => {
    const console = openConsole({ ...answers, [`reconciler POST ${path}/assign`]: whole });
    const ama = await console.signIn('ama');
    const fields = { 'break-0': whole.id, 'version-0': '3', act: 'assign', text: 'kofi' };
    const { goesTo } = await ama.post('/breaks/bulk', fields);
    expect(goesTo).toBe('/breaks/bulk?break-0=upstream%3AGHS%2Fbalance&done=assign');
    expect(changesOf(console)).toEqual([
      [`reconciler POST ${path}/assign`, { operator: 'kofi', version: 3 }],
    ]);
  });

  it('lets viewers choose nothing', async () => {
    const viewer = await openConsole(answers).signIn('esi', 'viewer');
    expect((await viewer.get('/breaks')).html).not.toContain('type="checkbox"');
    expect((await viewer.get(`/breaks/bulk?break-0=${whole.id}`)).html).not.toContain('Explain these');
  });
});
