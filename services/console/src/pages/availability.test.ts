import type { PauseView, StatusView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';
import { availability, measuredRail } from './availability.fixture.ts';
import { well } from './health.fixture.ts';
import { HOSTILE, page } from './payment.fixture.ts';

const at = '2026-11-27T11:00:00.000Z';
const PAYOUTS = 'payout-gateway GET /availability';
const COLLECTIONS = 'collection-gateway GET /availability';
const status = {
  at,
  open: [],
  silent: [],
  polls: [{ rail: 'upstream', configured: true, due: 0, overdue: 0, oldestDueAt: null }],
  breaks: [],
  breakSums: [],
  comparison: null,
  coverage: null,
  close: null,
  uncompared: [],
  unreported: [],
} satisfies StatusView;
const pause = {
  scope: 'rail',
  name: 'upstream',
  reason: 'it pays twice',
  pausedBy: 'kofi',
  pausedAt: at,
  resumeProposedBy: null,
} satisfies PauseView;
const mtn = {
  ...measuredRail,
  operatorCode: 'GHMTN',
  completed: 3,
  successRate: null,
  medianMs: null,
  p95Ms: null,
  openTooLong: { count: 0, isCut: false, afterMs: 3_600_000 },
};
const answers: Answers = {
  'reconciler GET /status': status,
  'reconciler GET /drift': page(),
  'payout-gateway GET /health': well,
  'payout-gateway GET /pauses': page(),
  'collection-gateway GET /pauses': page(),
  [PAYOUTS]: availability(measuredRail),
  [COLLECTIONS]: availability({ ...measuredRail, rail: 'other' }, mtn),
};
const down = answered(503, { code: 'unavailable', message: 'no database' });

/** The rows about rails on a page, as text. */
async function show(path: string, changed: Answers = {}) {
  const { signIn, asked } = openConsole({ ...answers, ...changed });
  const { html } = await (await signIn('ama')).get(path);
  const [table = ''] = /aria-label="By rail,.*?<\/table>/s.exec(html) ?? [];
  const rows = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => textOf(row).trim());
  return { html, text: textOf(html), rows: rows.slice(1), asked: asked.map(({ what }) => what) };
}

describe('the rails on Today', () => {
  it('say that nobody knows what is late where too many are open to tell', async () => {
    const cut = { ...mtn, openTooLong: { ...mtn.openTooLong, isCut: true } };
    const { rows } = await show('/', { [COLLECTIONS]: availability(cut) });
    expect(rows.at(-1)).toContain('not known: too many are open');
  });

  it('have their state, success, times and what fails most, and each number leads to its payments', async () => {
    const { html, text, rows } = await show('/');
    const [payouts, collections, few] = rows;
    const numbers =
      '97.0% 97 of 100 half within 4.2 s 95 of 100 within 1.5 min 2 CUSTOMER DECLINED 2 by the customer, 1 by the rail, 0 not told 3+ for 1.5 min';
    expect(payouts).toBe(`payouts upstream up ${numbers}`);
    expect(collections).toBe(`collections other up ${numbers}`);
    expect(few).toMatch(/^collections upstream GHMTN too few 3 of 6 – 2 CUSTOMER .* none$/);
    expect(text).toContain('payouts accepted from 27/11/2026 11:00:00 to 27/11/2026 12:00:00');
    const of = (query: string) =>
      `href="/payments?${query}&amp;from=2026-11-27T11%3A00%3A00.000Z&amp;to=2026-11-27T12%3A00%3A00.000Z"`;
    expect(html).toContain(`${of('of=payouts&amp;rail=upstream&amp;status=COMPLETED')}>97</a>`);
    expect(html).toContain(`${of('of=payouts&amp;rail=upstream')}>100</a>`);
    expect(html).toContain(`${of('of=payouts&amp;rail=upstream&amp;status=FAILED')}>2</a>`);
    expect(html).toContain(
      `${of('of=collections&amp;rail=upstream&amp;operator=GHMTN&amp;status=COMPLETED')}>3</a>`,
    );
    const back = await show('/', {
      [PAYOUTS]: availability({ ...measuredRail, completed: 93, reversed: 4 }),
    });
    expect(back.text).toContain('93 of 100');
    expect(back.html).toContain(
      `${of('of=payouts&amp;rail=upstream&amp;status=REVERSED')}>4 reversed after completion</a>`,
    );
    // Those that are open may have been accepted before.
    expect(html).toContain('href="/payments?of=payouts&amp;rail=upstream&amp;status=open">3+</a>');
  });

  it('are folded away where mobile operators have no payments', async () => {
    const idle = { ...mtn, operatorCode: 'GHVOD', completed: 0, failed: { customer: 0, rail: 0, other: 0 } };
    const { html, text, rows } = await show('/', {
      [COLLECTIONS]: availability(mtn, { ...idle, topFailure: null }),
    });
    expect(rows.join()).not.toContain('GHVOD');
    expect(text).toContain('1 more mobile operator without payments in the last hour');
    expect(html).toMatch(/<details><summary>1 more.*GHVOD.*<\/details>/s);
  });

  it('are paused where they are, and down where they give no answer', async () => {
    const silent = [{ rail: 'other', since: at, why: HOSTILE }];
    const { html, rows } = await show('/', {
      'payout-gateway GET /health': { ...well, waiting: { pauses: [pause] } },
      'reconciler GET /status': { ...status, silent },
    });
    expect(rows[0]).toContain('paused payouts at upstream for 1 h , by kofi: it pays twice');
    expect(rows[1]).toContain('collections other down for 1 h');
    expect(html).not.toContain('<script>alert');
  });

  it('say that a sample was measured where there are too many', async () => {
    const { text } = await show('/', { [PAYOUTS]: { ...availability(measuredRail), isSample: true } });
    expect(text).toContain('12:00:00: a sample, because there are too many');
  });

  it.each([
    [PAYOUTS, 'Not available: payout-gateway: no database', 'collections other up'],
    [COLLECTIONS, 'Not available: collection-gateway: no database', 'payouts upstream up'],
    ['reconciler GET /status', 'Not available: reconciler: no database', 'payouts upstream not known 97.0%'],
  ])('show what others know where nothing comes of %s', async (silent, said, known) => {
    const { text } = await show('/', { [silent]: down });
    expect(text).toContain(said);
    expect(text).toContain(known);
  });
});

it('the page of a rail has its own numbers alone, with those of its mobile operators', async () => {
  const { rows } = await show('/rails/upstream');
  expect(rows.map((row) => row.split(' ', 3).join(' '))).toEqual([
    'payouts upstream up',
    'collections upstream GHMTN',
  ]);
  const { html, text } = await show('/rails/upstream', { [PAYOUTS]: down, [COLLECTIONS]: down });
  expect(text).toContain('Not available: payout-gateway: no database');
  expect(html).toContain('Callbacks that we could not read');
});

it('the list of collections can be narrowed to a mobile operator', async () => {
  const list = 'collection-gateway GET /payments/list';
  const { html, asked } = await show('/payments?of=collections&operator=GHMTN', { [list]: page() });
  expect(asked).toContain(`${list}?operatorCode=GHMTN`);
  expect(html).toContain('name="operator"');
  expect((await show('/payments', { 'payout-gateway GET /payments/list': page() })).html).not.toContain(
    'name="operator"',
  );
});
