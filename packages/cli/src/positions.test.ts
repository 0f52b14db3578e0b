import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const token = 'operator-token-of-tests';
const TOPIC = 'payouts.events.v1';
const place = { topic: TOPIC, partition: 3 };
const plan = { next: '0', appliedAgain: '30', skipped: '0' };
const realignment = {
  ...plan,
  from: '50',
  reason: 'made anew',
  requestedBy: 'ama',
  requestedAt: '2026-01-02T03:04:05.000Z',
};
const fitting = {
  topic: TOPIC,
  partition: 2,
  state: 'continues',
  stored: { next: '70', topicId: 'a1' },
  kafka: { low: '0', high: '75', committed: '70', topicId: 'a1' },
  lag: '5',
};
const stopped = {
  ...fitting,
  ...place,
  state: 'stopped',
  mismatch: 'recreated',
  reason: 'the topic was deleted and created again',
  remedy: `pesewa realign ledger ${TOPIC} 3 --reason "recreated"`,
  stored: { next: '50', topicId: 'a1' },
  lag: null,
};
const ok = (body: unknown) => ({ status: 200, body });

it('lists what is stopped at every service with its remedy, and who gave no answer', async () => {
  const line = commandLine((url) => {
    if (url.startsWith('http://webhooks'))
      return { status: 503, body: { code: 'unavailable', message: 'Kafka does not answer' } };
    return ok({ items: url.startsWith('http://ledger') ? [fitting, stopped] : [fitting], next: null });
  });
  expect(await line.run('realign')).toBe(1);
  expect(line.printed().split('\n')).toHaveLength(6);
  expect(line.printed()).toContain('stopped: recreated');
  expect(line.printed()).toContain(stopped.reason);
  expect(line.printed()).toContain(stopped.remedy);
  expect(line.complained()).toContain('no answer from webhook-dispatcher');
});

it('lists all of one service', async () => {
  const line = commandLine([ok({ items: [fitting], next: null })]);
  expect(await line.run('realign', '--service', 'reconciler')).toBe(0);
  expect(line.printed()).toBe('no partition is stopped\n');
  expect(await line.run('realign', '--service', 'reconciler', '--all')).toBe(0);
  expect(line.requests).toEqual(Array(2).fill('http://reconciler/positions'));
  expect(line.printed()).toContain('continues');
});

it('shows what a realignment would do, and does it', async () => {
  const line = commandLine([ok({ ...stopped, plan }), ok(realignment)]);
  const where = ['realign', 'ledger', TOPIC, '3'];
  expect(await line.run(...where, '--dry-run')).toBe(0);
  expect(line.printed()).toContain('would make 0 the next message: 30 applied again, 0 gone');
  expect(await line.run(...where, '--reason', 'made anew')).toBe(0);
  expect(line.printed()).toContain('done: 0 the next message');
  const url = 'http://ledger/positions/realign';
  expect(line.requests).toEqual([
    { url, token, body: { ...place, reason: 'a dry run', dryRun: true } },
    { url, token, body: { ...place, reason: 'made anew' } },
  ]);
});

it.each([
  [['ledger', TOPIC, '3'], '--reason: say why'],
  [['ledger', TOPIC, 'three', '--reason', 'x'], 'topic, partition: name both'],
  [['ingress', TOPIC, '3', '--reason', 'x'], 'service: ingress consumes no topics'],
  [['--reason', 'x'], 'name the partition'],
])('refuses %j before anything is asked', async (given, problem) => {
  const line = commandLine();
  expect(await line.run('realign', ...given)).toBe(1);
  expect(line.complained()).toContain(problem);
  expect(line.requests).toEqual([]);
});
