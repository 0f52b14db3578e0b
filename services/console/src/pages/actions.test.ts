import type { ActionView } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { openConsole, textOf } from '../console.fixture.ts';

const action = {
  id: 'ac-1',
  at: '2026-11-27T11:00:00.000Z',
  operator: 'kofi',
  operation: 'POST /breaks/{id}/assign',
  objects: ['br-1', '<script>x</script>'],
  status: null,
} satisfies ActionView;

it('shows what operators did at all services, says which is silent, and passes the filters on', async () => {
  const resolved = { ...action, operation: 'POST /breaks/{id}/resolve', status: 200 };
  const page = { items: [action, resolved], next: null };
  const later = { items: [{ ...action, at: '2026-11-27T11:30:00.000Z', status: 403 }], next: null };
  const { signIn, asked } = openConsole({ 'reconciler GET /actions': page, 'ledger GET /actions': later });
  const { html } = await (await signIn('ama', 'viewer')).get('/actions?operator=kofi&object=br-1');
  const text = textOf(html);
  expect(text).toMatch(
    /11:30:00 kofi POST .*refused .*11:00:00 kofi Assigns .*reconciler .*it may have taken effect/,
  );
  // A summary of the API may go on about its parameters.
  expect(text).toContain('Resolves a break reconciler');
  expect(text).toContain('payout-gateway: nothing for payout-gateway GET /actions');
  expect(html).toContain('href="/actions?object=br-1"');
  expect(html).not.toContain('<script>x');
  expect(asked.map(({ what }) => what)).toContain('ledger GET /actions?operator=kofi&object=br-1&limit=50');
});

it('says that the services give no answer, and not that nobody did anything', async () => {
  const silent = await (await openConsole({}).signIn('ama', 'viewer')).get('/actions');
  expect(textOf(silent.html)).toContain('nothing for ledger GET /actions');
  expect(silent.html).not.toContain('Nobody did anything yet.');
});
