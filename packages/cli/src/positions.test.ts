import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const token = 'operator-token-of-tests';
const TOPIC = 'payouts.events.v1';
const place = { topic: TOPIC, partition: 3 };
const plan = { next: '50', appliedAgain: '30', skipped: '0', operators: 1 };
const realignment = {
  ...plan,
  from: '50',
  status: 'done',
  reason: 'restored',
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
  mismatch: 'restored',
  reason: 'Kafka knows that we had come to 80',
  remedy: `pesewa realign ledger ${TOPIC} 3 --to stored`,
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
  expect(line.printed()).toContain('stopped: restored');
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
  const where = ['realign', 'ledger', TOPIC, '3', '--to', 'stored'];
  expect(await line.run(...where, '--dry-run')).toBe(0);
  expect(line.printed()).toContain('50 the next message: 30 applied again, 0 skipped\nneeds 1 operator(s)');
  expect(await line.run(...where, '--reason', 'restored')).toBe(0);
  expect(line.printed()).toContain('done: 50 the next message');
  const url = 'http://ledger/positions/realign';
  expect(line.requests).toEqual([
    { url, token, body: { ...place, to: 'stored', reason: 'a dry run', dryRun: true } },
    { url, token, body: { ...place, to: 'stored', reason: 'restored' } },
  ]);
});

it('skips messages by two: one proposes, the other approves with a token of their own', async () => {
  const skipping = { ...realignment, next: '100', appliedAgain: '0', skipped: '50', operators: 2 };
  const proposed = { ...skipping, status: 'proposed', reason: 'chosen by hand' };
  const list = ok({ items: [fitting, { ...stopped, realignment: proposed }], next: null });
  const line = commandLine([
    { status: 202, body: proposed },
    ok({ ...proposed, status: 'approved', decidedBy: 'kofi' }),
  ]);
  const where = ['realign', 'ledger', TOPIC, '3'];
  expect(await line.run(...where, '--to', '100', '--reason', 'chosen by hand')).toBe(0);
  const approval = `pesewa realign ledger ${TOPIC} 3 --approve --seen ${realignment.requestedAt}\n`;
  expect(line.printed()).toContain(approval);
  expect(await line.run(...where, '--approve', '--seen', realignment.requestedAt)).toBe(0);
  const seen = { ...place, requestedAt: realignment.requestedAt };
  expect(line.requests.slice(1)).toEqual([
    { url: 'http://ledger/positions/realign/approve', token: 'approver-token-of-tests', body: seen },
  ]);
  expect(line.printed()).toContain(
    '100 the next message: 0 applied again, 50 skipped; chosen by hand\napproved by kofi\n',
  );
  const rejecting = commandLine([list, ok({ ...skipping, status: 'rejected', decidedBy: 'kofi' })]);
  expect(await rejecting.run(...where, '--reject', '--reason', 'not these')).toBe(0);
  expect(rejecting.requests).toEqual([
    'http://ledger/positions',
    { url: 'http://ledger/positions/realign/reject', token, body: { ...seen, reason: 'not these' } },
  ]);
  for (const call of [
    ['realign', '--service', 'ledger'],
    [...where, '--approve'],
  ]) {
    const showing = commandLine([list]);
    expect(await showing.run(...call)).toBe(call.includes('--approve') ? 1 : 0);
    expect(showing.requests).toEqual(['http://ledger/positions']);
    expect(showing.printed()).toContain('0 applied again, 50 skipped; chosen by hand\n');
    expect(showing.printed()).toContain(approval);
    expect(showing.complained()).toContain(call.includes('--approve') ? '--seen: nothing was approved' : '');
  }
  const none = commandLine([ok({ items: [stopped], next: null })]);
  expect(await none.run(...where, '--approve')).toBe(1);
  expect(none.complained()).toContain(`no realignment of ${TOPIC} 3 is proposed`);
});

it.each([
  [['ledger', TOPIC, '3'], '--to: write stored, start, end, or an offset'],
  [['ledger', TOPIC, '3', '--to', 'middle'], '--to: write stored'],
  [['ledger', TOPIC, '3', '--to', 'start'], '--reason: say why'],
  [['ledger', TOPIC, 'three', '--to', 'start'], 'topic, partition: name both'],
  [['ingress', TOPIC, '3', '--to', 'start'], 'service: ingress consumes no topics'],
  [['--to', 'start'], 'name the partition'],
  [['ledger', TOPIC, '3', '--approve', '--reject'], 'give one of them'],
  [['ledger', TOPIC, '3', '--reject'], '--reason: say why'],
  [['ledger', TOPIC, '3', '--approve', '--dry-run'], '--dry-run: it goes with --to'],
  [['ledger', TOPIC, '3', '--approve', '--seen', 'now'], '--seen: now is no time'],
  [['ledger', TOPIC, '3', '--to', 'end', '--seen', realignment.requestedAt], '--seen: it goes with'],
])('refuses %j before anything is asked', async (given, problem) => {
  const line = commandLine();
  expect(await line.run('realign', ...given)).toBe(1);
  expect(line.complained()).toContain(problem);
  expect(line.requests).toEqual([]);
});
