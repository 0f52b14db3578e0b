import { expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { HOSTILE, listed, page } from './payment.fixture.ts';

const LIST = 'payout-gateway GET /payments/list';

const show = async (query: string, answer: unknown = page(listed)) => {
  const { signIn, asked } = openConsole({ [LIST]: answer, 'collection-gateway GET /payments/list': page() });
  const { html } = await (await signIn('ama', 'viewer')).get(`/payments${query}`);
  return { html, text: textOf(html), asked: asked.map(({ what }) => what) };
};

it('lists payouts with links to each, its merchant and its rail', async () => {
  const { html, text, asked } = await show('');
  expect(asked).toEqual([LIST]);
  expect(text).toContain('po-1 INITIALIZED submitted 1,200.50 GHS 12.00 GHS demo order-1 upstream 1 h ago');
  for (const path of ['/payments/po-1', '/merchants/demo', '/rails/upstream'])
    expect(html).toContain(`href="${path}"`);
});

it('passes filters on, with times in the zone of the pages, and keeps them on the next page', async () => {
  const asked =
    '?merchant=demo&status=FAILED&from=27%2F11%2F2026+08%3A00&to=2026-11-28T00%3A00%3A00Z&cursor=po-7';
  const found = await show(asked, { items: [listed], next: 'po-1' });
  expect(found.asked).toEqual([
    `${LIST}?status=FAILED&merchant=demo&from=2026-11-27T08%3A00%3A00.000Z&to=2026-11-28T00%3A00%3A00.000Z&after=po-7`,
  ]);
  expect(found.html).toContain(
    'href="/payments?status=FAILED&amp;merchant=demo&amp;from=27%2F11%2F2026+08%3A00&amp;to=2026-11-28T00%3A00%3A00Z&amp;cursor=po-1"',
  );
  expect(found.html).toContain('value="27/11/2026 08:00"');
});

it('asks nobody about a time that is none, and says how to write one', async () => {
  const { text, asked } = await show('?from=yesterday');
  expect(asked).toEqual([]);
  expect(text).toContain('from: yesterday is no time: write 27/11/2026');
});

it('tells an empty list from one that is narrowed too much, and says why a gateway refuses', async () => {
  expect((await show('?of=collections')).text).toContain('No collections yet');
  const narrowed = await show('?of=collections&merchant=demo');
  expect(narrowed.text).toContain('Nothing matches. Clear the filters');
  const broad = answered(400, { code: 'too_broad', message: 'narrow from and to' });
  expect((await show('?merchant=demo', broad)).text).toContain('narrow from and to');
});

it('shows what merchants wrote as text', async () => {
  const { html } = await show(
    `?merchant=${encodeURIComponent(HOSTILE)}`,
    page({ ...listed, merchantReference: HOSTILE }),
  );
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script>alert');
});
