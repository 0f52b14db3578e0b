import { messagingServices, type PauseView, type StatusView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { availability } from './availability.fixture.ts';
import { well } from './health.fixture.ts';
import { HOSTILE, page } from './payment.fixture.ts';
import { wallet } from './reconciliation.fixture.ts';

const at = '2026-11-27T11:00:00.000Z';
const status = {
  at,
  open: [
    {
      kind: 'payout',
      count: 3,
      states: [{ state: 'PENDING', reference: 'po-1', openedAt: at }],
      overdue: { count: 0, oldest: [] },
    },
  ],
  silent: [],
  polls: [],
  breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: at }],
  breakSums: [],
  comparison: null,
  coverage: { at, status: 'done', found: 0 },
  close: { to: at, finishedAt: at, counts: { matched: 7, differs: 1 }, late: 0 },
  uncompared: [{ rail: 'upstream', reference: 'po-9', endedAt: at }],
  unreported: [],
} satisfies StatusView;
const pause = {
  scope: 'rail',
  name: 'upstream',
  reason: '<script>x</script>',
  pausedBy: 'kofi',
  pausedAt: at,
  resumeProposedBy: null,
} satisfies PauseView;
const services = messagingServices.map((service) => [`${service} GET /health`, well] as const);
const answers = {
  ...Object.fromEntries(services),
  'reconciler GET /status': status,
  'reconciler GET /drift': page(),
  'payout-gateway GET /health': { ...well, waiting: { pauses: [pause] } },
  'collection-gateway GET /health': { ...well, waiting: { pauses: [] } },
  'payout-gateway GET /availability': availability(),
  'collection-gateway GET /availability': availability(),
  'ledger GET /accounts': page(),
};

const show = async (changed: Parameters<typeof openConsole>[0] = {}) => {
  const { signIn, asked } = openConsole({ ...answers, ...changed });
  const { html, status: answeredWith } = await (await signIn('ama')).get('/');
  return { html, text: textOf(html), status: answeredWith, asked: asked.map(({ what }) => what) };
};

describe('today', () => {
  it('begins with what needs a person, each with the way there', async () => {
    const { html, text } = await show();
    expect(text).toContain('Breaks, payment: stuck: 2 open, the oldest for 1 h');
    expect(text).toContain('Paused: payouts at upstream for 1 h by kofi');
    expect(html).toContain('href="/rails/resume?what=payouts&amp;scope=rail&amp;name=upstream"');
    expect(html).toContain('href="/payments?of=payouts&amp;status=open"');
    expect(text).toContain('are as of 27/11/2026 11:00:00');
    expect(text).toContain('7 matched, 1 differs');
    expect(text).toContain('po-9 at upstream ended 1 h ago');
    expect(html).not.toContain('<script>x');
  });

  it('asks each service how it stands and what waits there at once, and no more than five questions besides', async () => {
    const { asked } = await show();
    expect(asked.filter((what) => what.endsWith('GET /health'))).toHaveLength(messagingServices.length);
    expect(asked).toHaveLength(messagingServices.length + 5);
  });

  it('shows what went through floats and fees yesterday, each with its entries', async () => {
    const account = (name: string, debits: string, credits: string) => ({
      account: name,
      currency: 'KES',
      balance: '1',
      turnover: { debits, credits },
    });
    const { html, text, asked } = await show({
      'ledger GET /accounts': page(
        account('float:upstream:KES', '90071992547409.93', '1200'),
        account('treasury:KES', '777', '777'),
      ),
    });
    expect(asked).toContain(
      'ledger GET /accounts?from=2026-11-26T00%3A00%3A00.000Z&to=2026-11-27T00%3A00%3A00.000Z',
    );
    expect(text).toMatch(/90,071,992,547,409\.93 KES\s+1,200\.00 KES/);
    expect(text).not.toContain('777');
    expect(html).toContain(
      'href="/ledger/accounts/float%3Aupstream%3AKES?from=2026-11-26&amp;to=2026-11-26"',
    );
  });

  it('sums the open breaks by currency, and says of how many nobody knows the amount', async () => {
    const sum = { currency: 'KES', amount: '90071992547414.93', count: 3, unknown: 1, oldestAt: at };
    const { html, text } = await show({ 'reconciler GET /status': { ...status, breakSums: [sum] } });
    expect(text).toMatch(/KES 3 1 h 90,071,992,547,414\.93 KES *, and 1 of an unknown amount/);
    expect(html).toContain('href="/breaks?currency=KES&amp;status=unresolved">3</a>');
    const tooLarge = { ...status, breakSums: [{ ...sum, amount: null }] };
    const unknown = await show({ 'reconciler GET /status': tooLarge });
    expect(unknown.text).toMatch(/KES 3 1 h not known, and 1 of an unknown amount/);
    const unread = await show({ 'reconciler GET /status': { ...status, breakSums: null } });
    expect(unread.text).toContain('The sums are not known');
  });

  it.each([
    ['ledger GET /health', 'Not available: ledger: no database', 'Paused: payouts'],
    ['payout-gateway GET /health', 'Not available: payout-gateway: no database', 'payment: stuck: 2 open'],
    ['collection-gateway GET /health', 'Not available: collection-gateway: no database', 'Paused: payouts'],
    ['reconciler GET /status', 'Not available: reconciler: no database', 'Paused: payouts'],
    ['reconciler GET /health', 'Not available: reconciler: no database', 'payment: stuck: 2 open'],
  ])('shows what others know where nothing comes of %s', async (asked, said, known) => {
    const down = answered(503, { code: 'unavailable', message: 'no database' });
    const { text } = await show({ [asked]: down });
    expect(text).toContain(said);
    expect(text).toContain(known);
  });

  it('names a service that does not tell what waits there, beside what it tells', async () => {
    const { text } = await show({
      'ledger GET /health': { ...well, waiting: { orders: null, settings: { count: 3, isCut: false } } },
    });
    expect(text).toContain('What waits at ledger is not known');
    expect(text).toContain('For an approver: 3 changes of settings');
    for (const service of ['ledger', 'reconciler', 'webhook-dispatcher', 'payout-gateway']) {
      const silent = await show({ [`${service} GET /health`]: { ...well, waiting: {} } });
      expect(silent.text).toContain(`What waits at ${service} is not known`);
    }
  });

  const WELL =
    'all services answer, all consumers keep up, nothing waits in an outbox, every message could be applied';
  it('says in one line that all services are well, and first what is not', async () => {
    const fine = await show();
    expect(fine.text).toContain(WELL);
    expect(fine.text).not.toContain('could not be applied');
    const { html, text } = await show({
      'ledger GET /health': {
        ...well,
        problems: { 'partitions of ledger': HOSTILE },
        parked: { count: 1, isCut: false },
      },
      'webhook-ingress GET /health': { ...well, outbox: { oldestAt: '2026-11-27T11:58:00.000Z' } },
      'webhook-dispatcher GET /health': {
        ...well,
        keepsUp: false,
        outbox: { oldestAt: '2026-11-27T11:59:59.000Z' },
      },
    });
    const lines = [...html.matchAll(/<li>(.*?)<\/li>/gs)].map(([, one = '']) => textOf(one).trim());
    expect(lines.slice(0, 4)).toEqual([
      expect.stringContaining('ledger : partitions of ledger:') as unknown,
      'webhook-dispatcher : it has not applied all events that wait for it',
      'webhook-ingress : events in its outbox wait for Kafka, the oldest for 2 min',
      'ledger : 1 message could not be applied',
    ]);
    expect(html).toContain('<a href="/rails/consumers">ledger</a>');
    expect(html).toContain('<a href="/webhooks/parked?service=ledger">1 message could not be applied</a>');
    expect(text).toContain('not all is well');
    expect(html).not.toContain('<script>alert');
  });

  it('claims nothing of services that give no answer', async () => {
    const gone = answered(503, { code: 'unavailable', message: 'no database' });
    const { text } = await show({ 'ledger GET /health': gone });
    expect(text).toContain('Not available: ledger: no database');
    expect(text).not.toContain('all consumers keep up');
    const unsaid = { ...well, outbox: null, keepsUp: null, parked: null };
    const silent = await show({ 'ledger GET /health': unsaid });
    expect(silent.text).toContain('ledger : whether it has applied all events that wait for it is not known');
    expect(silent.text).toContain('ledger : whether events wait in its outbox is not known');
    expect(silent.text).toContain('ledger : whether it could apply every message is not known');
    for (const claim of WELL.split(', ').slice(1)) expect(silent.text).not.toContain(claim);
  });

  it('draws how the drift of wallets went, with what is in it', async () => {
    const course = [
      { at: wallet.at, drift: '1240' },
      { at: '2026-11-27T10:45:00.000Z', drift: '-310' },
    ];
    const even = { ...wallet, id: 'rn-XOF', currency: 'XOF', drift: '0', withinRange: true } as const;
    const explained = { ...even, finding: 'explained', candidates: [], explainedBy: ['po-9'] };
    const { html, text, asked } = await show({
      'reconciler GET /drift': page(explained, { ...wallet, course }),
    });
    expect(asked).toContain('reconciler GET /drift?courses=true');
    expect(html).toContain('points="0,96 1000,4"');
    expect(html).toContain(
      'aria-label="The drift went from -310.00 KES to +1,240.00 KES at 27/11/2026 11:00:00."',
    );
    expect(text).toContain('perhaps co-1');
    expect(html).toContain('href="/payments/po-9"');
  });

  it.each([
    [1, '1 payout is open for more', '1 change of settings', '1 order of money', '1 webhook was given up'],
    [
      2,
      '2 payouts are open for more',
      '2 changes of settings',
      '2 orders of money',
      '2 webhooks were given up',
    ],
  ])('counts %i as people do', async (many, ...said) => {
    const several = { count: many, isCut: false };
    const open = [{ ...status.open[0], overdue: { count: many, oldest: [] } }];
    const { text } = await show({
      'reconciler GET /status': { ...status, open },
      'ledger GET /health': { ...well, waiting: { orders: several, settings: several } },
      'webhook-dispatcher GET /health': { ...well, waiting: { givenUpWebhooks: several } },
    });
    for (const one of said) expect(text).toContain(one);
  });

  it('shows suspense, low floats and the endpoints whose webhooks are kept', async () => {
    const sum = { account: 'suspense:KES', currency: 'KES', balance: '40' };
    const low = { account: 'float:upstream:KES', currency: 'KES', balance: '-5', held: '7' };
    const disabledEndpoints = [{ merchantId: HOSTILE, failingSince: at }];
    const { html, text } = await show({
      'ledger GET /health': { ...well, waiting: { books: { suspense: [sum], lowFloats: [low] } } },
      'webhook-dispatcher GET /health': { ...well, waiting: { disabledEndpoints } },
    });
    expect(text).toMatch(/40\.00 KES +stands in suspense/);
    expect(html).toContain('href="/ledger/accounts/suspense%3AKES"');
    expect(text).toMatch(/KES float at upstream runs low: +-5\.00 KES *, and open payouts hold +7\.00 KES/);
    expect(text).toMatch(/are kept: its +endpoint +has failed for 1 h/);
    expect(html).not.toContain('<script>alert');
  });

  it('shows nothing to somebody whose token was taken away', async () => {
    const gone = answered(403, { code: 'forbidden', message: 'the operator token is wrong' });
    const { text, status: answeredWith } = await show({ 'reconciler GET /status': gone });
    expect(answeredWith).toBe(403);
    expect(text).toContain('Your token is no longer valid');
    expect(text).not.toContain('Open payments');
  });
});
