import type { PlannedPositionView, PositionView, RealignmentView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { well } from './health.fixture.ts';

const evil = `<script>alert(1)</script>"'`;
const path = '/rails/consumers/ledger/payouts.events.v1/1';
const place = { topic: 'payouts.events.v1', partition: 1 };
const plan = { next: '124', appliedAgain: '0', skipped: '4' };

const position = (more: Partial<PositionView> = {}): PositionView => ({
  ...place,
  state: 'stopped',
  mismatch: 'messages removed',
  reason: 'Kafka removed messages',
  remedy: evil,
  stored: { next: '120', topicId: 'x' },
  kafka: { low: '124', high: '125', committed: '120', topicId: 'x' },
  lag: null,
  ...more,
});
const realignment: RealignmentView = {
  ...plan,
  from: '120',
  reason: evil,
  requestedBy: 'ama',
  requestedAt: '2026-11-27T11:00:00.000Z',
};
const list = (...items: readonly PositionView[]) => ({ 'ledger GET /positions': { items, next: null } });
const realign = 'ledger POST /positions/realign';

describe('consumers', () => {
  it('are shown for every service, the stopped partitions first with what helps', async () => {
    const { signIn } = openConsole({
      ...list(position({ partition: 0, state: 'continues', lag: '7' }), position()),
      'ledger GET /health': {
        ...well,
        problems: { clock: '3 s behind' },
        outbox: null,
      },
    });
    const { html } = await (await signIn('ama')).get('/rails/consumers');
    expect(textOf(html)).toContain('2 partitions, 1 of them stopped; 7 messages wait');
    expect(html).toContain(`href="${path}"`);
    expect(textOf(html)).toContain('nothing for reconciler GET /positions');
    expect(textOf(html)).toContain('nothing for webhook-ingress GET /health');
    expect(textOf(html)).toContain('clock: 3 s behind');
    expect(textOf(html)).toContain('whether events wait in its outbox is not known');
    expect(html).not.toContain('<script>alert');
  });
});

describe('a stopped partition', () => {
  it('shows what a realignment does before it is done, by one call', async () => {
    const planned: PlannedPositionView = { ...position({ realignment }), plan };
    const { signIn, asked } = openConsole({
      ...list(position({ realignment })),
      [realign]: (body: { readonly dryRun?: boolean }) => (body.dryRun === true ? planned : realignment),
    });
    const ama = await signIn('ama');
    const written = { reason: 'reported by hand' };
    const { html } = await ama.post(path, { ...written, step: 'foresee' });
    expect(textOf(html)).toContain('124 the next message: 0 applied again, 4 gone');
    expect(textOf(html)).toContain('Start at 124: 0 applied again');
    expect(html).not.toContain('<script>alert');
    const done = await ama.post(path, written);
    expect(done.goesTo).toBe(path);
    const calls = asked.filter(({ what }) => what === realign).map(({ body }) => body);
    expect(calls).toEqual([
      { ...place, ...written, dryRun: true },
      { ...place, ...written },
    ]);
  });

  it('says why it stays, with what was written', async () => {
    const refusal = answered(409, { code: 'restored', message: 'the database is an older one' });
    const { signIn } = openConsole({ ...list(position()), [realign]: refusal });
    const done = await (await signIn('ama')).post(path, { reason: evil });
    expect([done.status, textOf(done.html).includes('the database is an older one')]).toEqual([409, true]);
    expect(done.html).not.toContain('<script>alert');
  });

  it('that no service consumes is not found', async () => {
    const { signIn } = openConsole(list());
    const ama = await signIn('ama');
    expect([(await ama.get(path)).status, (await ama.get('/rails/consumers/x/y/1')).status]).toEqual([
      404, 404,
    ]);
  });
});
