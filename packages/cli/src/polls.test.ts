import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

it('brings the poll of a payment forward, and says where to see what came of it', async () => {
  const line = commandLine([
    { status: 202, body: { reference: 'po-1', nextPollAt: '2026-01-02T03:04:05Z' } },
  ]);
  expect(await line.run('reconcile', 'poll', 'po-1')).toBe(0);
  expect(line.requests).toMatchObject([{ url: 'http://reconciler/polls', body: { reference: 'po-1' } }]);
  expect(line.printed()).toBe('po-1 is polled now; what comes of it: pesewa timeline po-1\n');
});

it('says why there is nothing to ask', async () => {
  const message = 'the payment is completed: there is nothing to ask the rail';
  const line = commandLine([{ status: 409, body: { code: 'ended', message } }]);
  expect(await line.run('reconcile', 'poll', 'po-1')).toBe(1);
  expect(line.complained()).toBe(`pesewa: reconciler: ${message}\n`);
});
