import type { PlannedPositionView, PositionView, RealignmentView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { well } from './health.fixture.ts';

const evil = `<script>alert(1)</script>"'`;
const path = '/rails/consumers/ledger/payouts.events.v1/1';
const place = { topic: 'payouts.events.v1', partition: 1 };
const plan = { next: '125', appliedAgain: '0', skipped: '5', operators: 2 };

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
  status: 'proposed',
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
  it('shows what a realignment does before it is proposed, by one call', async () => {
    const planned: PlannedPositionView = { ...position(), plan };
    const { signIn, asked } = openConsole({
      ...list(position()),
      [realign]: (body: { readonly dryRun?: boolean }) =>
        body.dryRun === true ? planned : answered(202, realignment),
    });
    const ama = await signIn('ama');
    const written = { to: 'end', reason: 'reported by hand' };
    const { html } = await ama.post(path, { ...written, step: 'foresee' });
    expect(textOf(html)).toContain('Propose to start at 125: 0 applied again, 5 skipped');
    // The end moves on: what was seen is what is proposed.
    expect(html).toContain('name="to" value="125"');
    const done = await ama.post(path, { ...written, what: 'realign', to: '125' });
    expect(done.goesTo).toBe(path);
    const calls = asked.filter(({ what }) => what === realign).map(({ body }) => body);
    expect(calls).toEqual([
      { ...place, to: 'end', reason: 'reported by hand', dryRun: true },
      { ...place, to: '125', reason: 'reported by hand' },
    ]);
  });

  it('says why it stays, with what was written', async () => {
    const refusal = answered(409, { code: 'beyond_end', message: 'to: the topic ends before that' });
    const { signIn } = openConsole({ ...list(position()), [realign]: refusal });
    const done = await (await signIn('ama')).post(path, { what: 'realign', to: '999', reason: evil });
    expect([done.status, textOf(done.html).includes('the topic ends before that')]).toEqual([409, true]);
    expect(done.html).toContain('value="999"');
    expect(done.html).not.toContain('<script>alert');
  });

  it.each(['approve', 'reject'])('has a proposal that is ended by %s, with one call', async (what) => {
    const called = `${realign}/${what}`;
    const { signIn, asked } = openConsole({ ...list(position({ realignment })), [called]: realignment });
    const kofi = await signIn('kofi');
    const { html } = await kofi.get(path);
    const seen = { requestedAt: '2026-11-27T11:00:00.000Z' };
    const reason = what === 'reject' && { reason: 'not these' };
    expect(html).toContain('name="reason"');
    for (const [name, value] of Object.entries({ ...seen, what }))
      expect(html).toContain(`name="${name}" value="${value}"`);
    const done = await kofi.post(path, { what, ...seen, ...reason });
    expect(done.goesTo).toBe(path);
    const body = { ...place, ...seen, ...reason };
    expect(asked.filter((one) => one.what === called)).toEqual([{ what: called, body, by: 'kofi' }]);
  });

  it('shows the proposal that there is now, where another one was seen', async () => {
    const changed = answered(409, { code: 'changed', message: 'another realignment is proposed now' });
    const anew = { ...realignment, requestedAt: '2026-11-27T11:30:00.000Z', skipped: '80' };
    const now = list(position({ realignment: anew }));
    const { signIn } = openConsole({ ...now, [`${realign}/approve`]: changed });
    const done = await (await signIn('kofi')).post(path, {
      what: 'approve',
      requestedAt: '2026-11-27T11:00:00.000Z',
    });
    expect(done.status).toBe(409);
    for (const shown of [
      'another realignment is proposed now',
      'ama proposed at 27/11/2026',
      'Start it at 125, and skip 80 messages for good',
    ])
      expect(textOf(done.html)).toContain(shown);
  });

  it('leaves what one proposed to another', async () => {
    const { signIn } = openConsole(list(position({ realignment })));
    const own = textOf((await (await signIn('ama')).get(path)).html);
    expect(own).toContain('Another operator must approve what you proposed.');
    const { html } = await (await signIn('kofi', 'approver')).get(path);
    expect(textOf(html)).toContain('Start it at 125, and skip 5 messages for good');
    expect(html).not.toContain('<script>alert');
    const operator = textOf((await (await signIn('esi', 'operator')).get(path)).html);
    expect(operator).toContain('takes the role approver');
  });

  it('that no service consumes is not found', async () => {
    const { signIn } = openConsole(list());
    const ama = await signIn('ama');
    expect([(await ama.get(path)).status, (await ama.get('/rails/consumers/x/y/1')).status]).toEqual([
      404, 404,
    ]);
  });
});
