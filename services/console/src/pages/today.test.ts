import type { PauseView, StatusView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { availability } from './availability.fixture.ts';
import { page } from './payment.fixture.ts';

const at = '2026-11-27T11:00:00.000Z';
const status = {
  at,
  open: [
    {
      kind: 'payout',
      count: 3,
      oldest: null,
      states: [{ state: 'PENDING', reference: 'po-1', openedAt: at }],
      overdue: { count: 0, oldest: [] },
    },
  ],
  silent: [],
  polls: [],
  breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: at }],
  comparison: null,
  coverage: { at, status: 'passed', found: 0, repaired: 0 },
  close: { to: at, finishedAt: at, counts: { matched: 7, differs: 1 }, late: 0 },
  uncompared: [{ rail: 'upstream', reference: 'po-9', endedAt: at }],
  caughtUp: true,
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
const parked = ['ledger', 'reconciler', 'payout-gateway', 'collection-gateway', 'webhook-dispatcher'].map(
  (service) => [`${service} GET /parked`, page()] as const,
);
const answers = {
  ...Object.fromEntries(parked),
  'reconciler GET /status': status,
  'reconciler GET /drift': page(),
  'reconciler GET /decisions': page(),
  'payout-gateway GET /pauses': page(pause),
  'collection-gateway GET /pauses': page(),
  'payout-gateway GET /availability': availability(),
  'collection-gateway GET /availability': availability(),
  'ledger GET /commands': page(),
  'ledger GET /changes': page(),
  'ledger GET /accounts': page(),
  'webhook-dispatcher GET /deliveries': page(),
  'webhook-dispatcher GET /endpoints': page(),
};

const show = async (changed: Parameters<typeof openConsole>[0] = {}) => {
  const { signIn } = openConsole({ ...answers, ...changed });
  const { html, status: answeredWith } = await (await signIn('ama')).get('/');
  return { html, text: textOf(html), status: answeredWith };
};

describe('today', () => {
  it('begins with what needs a person, each with the way there', async () => {
    const { html, text } = await show();
    expect(text).toContain('Breaks, payment: stuck: 2 open, the oldest for 1 h');
    expect(text).toContain('Paused: payouts at upstream for 1 h by kofi');
    expect(html).toContain('href="/rails/resume?what=payouts&amp;scope=rail&amp;name=upstream"');
    expect(html).toContain('href="/payments?of=payouts&amp;status=open"');
    expect(text).toContain('7 matched, 1 differs');
    expect(text).toContain('po-9 at upstream ended 1 h ago');
    expect(html).not.toContain('<script>x');
  });

  it.each([
    ['ledger GET /commands', 'What waits at ledger is not known', 'Paused: payouts'],
    ['payout-gateway GET /pauses', 'Not available: payout-gateway: no database', 'payment: stuck: 2 open'],
    ['collection-gateway GET /pauses', 'Not available: collection-gateway: no database', 'Paused: payouts'],
    ['reconciler GET /status', 'Not available: reconciler: no database', 'Paused: payouts'],
    ['reconciler GET /parked', 'Not available: reconciler: no database', 'payment: stuck: 2 open'],
  ])('shows what others know where nothing comes of %s', async (asked, said, known) => {
    const down = answered(503, { code: 'unavailable', message: 'no database' });
    const { text } = await show({ [asked]: down });
    expect(text).toContain(said);
    expect(text).toContain(known);
  });

  it('shows nothing to somebody whose token was taken away', async () => {
    const gone = answered(403, { code: 'forbidden', message: 'the operator token is wrong' });
    const { text, status: answeredWith } = await show({ 'reconciler GET /status': gone });
    expect(answeredWith).toBe(403);
    expect(text).toContain('Your token is no longer valid');
    expect(text).not.toContain('Open payments');
  });
});
