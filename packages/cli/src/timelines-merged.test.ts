import { mergeTimeline } from '@pesewa/operator-client';
import { expect, it } from 'vitest';
import { at, callback, delivery, entries, payout, seen, webhookAttempts } from './timeline.fixture.ts';

const nothing = {
  payment: null,
  callbacks: [],
  reconciliation: null,
  breaks: [],
  entries: [],
  deliveries: [],
};
const everything = {
  payment: payout,
  callbacks: [callback],
  reconciliation: seen,
  breaks: [],
  entries,
  deliveries: [{ ...delivery, attempts: webhookAttempts }],
};
const linesOf = (sources: Parameters<typeof mergeTimeline>[0]) =>
  mergeTimeline(sources).map(({ service, what }) => `${service}: ${what}`);

it('puts what every service knows into the order of time, and equal times into that of the flow', () => {
  expect(linesOf(everything)).toEqual([
    'payout-gateway: request accepted',
    'ledger: entry hold',
    'payout-gateway: held',
    'payout-gateway: attempt 1',
    'payout-gateway: no clear answer from the rail',
    'payout-gateway: not found at the rail, to be sent again',
    'payout-gateway: attempt 2',
    'payout-gateway: acknowledged by the rail',
    'webhook-ingress: callback',
    'reconciler: hint',
    'reconciler: poll',
    'payout-gateway: completed',
    'ledger: entry capture',
    'webhook-dispatcher: webhook payout-completed',
    'webhook-dispatcher: webhook attempt 1',
    'webhook-dispatcher: webhook attempt 2',
  ]);
});

it('keeps lines of one service and time in the service’s order', () => {
  const items = ['poll', 'fact', 'break', 'poll'].map((what, index) => ({
    at: at(5),
    what,
    detail: String(index),
    times: 1,
    lastAt: at(5),
    notKept: 0,
  }));
  const lines = mergeTimeline({ ...nothing, reconciliation: { ...seen, items } });
  expect(lines.map(({ detail }) => detail)).toEqual(['0', '1', '2', '3']);
});

it('compares times as times, not as texts', () => {
  const items = ['2026-01-02T00:00:00.010Z', '2026-01-02T01:00:00.005+01:00'].map((time) => ({
    at: time,
    what: 'poll',
    detail: time,
    times: 1,
    lastAt: time,
    notKept: 0,
  }));
  const lines = mergeTimeline({ ...nothing, reconciliation: { ...seen, items } });
  expect(lines.map(({ at: time }) => time)).toEqual([...items].reverse().map(({ at: time }) => time));
});

it('says how often a line repeats, and how a webhook stands', () => {
  const details = Object.fromEntries(mergeTimeline(everything).map(({ what, detail }) => [what, detail]));
  expect(details['hint']).toBe(`COMPLETED (2 times, last ${at(86)})`);
  expect(details['callback']).toBe(
    'claims COMPLETED 100.00 GHS, signature verified, passed on, came 2 times',
  );
  expect(details['webhook payout-completed']).toBe('wh-1, now delivered');
  expect(details['webhook attempt 1']).toBe('payout completed: timeout in 10 ms');
  expect(details['webhook attempt 2']).toBe('payout completed: 200 in 4 ms');
  expect(details['completed']).toBe('attempt 2: Successful');
});

it('shows the reason of a reversal on its own line, and not on that of the completion before it', () => {
  const reversed = { at: at(200), what: 'reversed', attempt: null, claimedAt: null, notKept: 0 };
  const payment = { ...payout, reason: 'Returned by the bank', steps: [...payout.steps, reversed] };
  const lines = mergeTimeline({ ...nothing, payment }).slice(-2);
  expect(lines.map(({ what, detail }) => [what, detail])).toEqual([
    ['completed', 'attempt 2'],
    ['reversed', 'Returned by the bank'],
  ]);
});

it('shows an attempt of which no answer is recorded', () => {
  const [held] = payout.steps;
  const waiting = {
    ...payout,
    attempts: 1,
    attemptedAt: at(30),
    steps: held ? [held] : [],
  };
  expect(mergeTimeline({ ...nothing, payment: waiting }).at(-1)).toEqual({
    at: at(30),
    service: 'payout-gateway',
    what: 'attempt 1',
    detail: 'rail upstream is asked, no answer recorded',
  });
});

it('shows how many steps a service has dropped, at their place', () => {
  const late = { at: at(100), what: 'poll', detail: 'pending', times: 1, lastAt: at(100), notKept: 12 };
  const steps = payout.steps.map((step, index) => ({ ...step, notKept: index === 3 ? 1 : 0 }));
  const lines = mergeTimeline({
    ...nothing,
    payment: { ...payout, steps },
    reconciliation: { ...seen, items: [late] },
  });
  expect(lines.map(({ service, what, detail }) => `${service}: ${what} ${detail}`).slice(-5)).toEqual([
    'payout-gateway: gap … 1 step not kept',
    'payout-gateway: acknowledged by the rail attempt 2',
    'reconciler: gap … 12 steps not kept',
    'reconciler: poll pending',
    'payout-gateway: completed attempt 2: Successful',
  ]);
  expect(lines.find(({ what }) => what === 'gap')?.at).toBe(at(70));
});

it('shows what a break went through, and what was decided, which is no failure of the decision', () => {
  const history = [
    { at: at(1), by: null, what: 'opened', text: null },
    { at: at(2), by: 'ama', what: 'assigned', text: null },
    { at: at(3), by: 'kofi', what: 'decision proposed', text: 'failed: dc-1' },
    { at: at(4), by: null, what: 'decision applied', text: 'failed: dc-1' },
  ];
  const found = { id: 'po-1/status', kind: 'payment.stuck', status: 'assigned' as const, history };
  const line = { service: 'reconciler', about: { kind: 'break', id: 'po-1/status' } };
  expect(mergeTimeline({ ...nothing, breaks: [found] })).toEqual([
    { ...line, at: at(1), what: 'break opened', detail: 'payment: stuck', isFailure: true },
    { ...line, at: at(2), what: 'break assigned', detail: 'payment: stuck by ama' },
    { ...line, at: at(3), what: 'decision proposed', detail: 'failed: dc-1 by kofi' },
    { ...line, at: at(4), what: 'decision applied', detail: 'failed: dc-1' },
  ]);
});

it('marks what went wrong, in our words or in codes, and nothing else', () => {
  const denied = { ...callback, claimedStatus: 'FAILED' };
  const wrong = mergeTimeline({ ...everything, callbacks: [denied] }).filter(({ isFailure }) => isFailure);
  expect(wrong.map(({ what, about }) => [what, about?.id])).toEqual([
    ['no clear answer from the rail', undefined],
    ['not found at the rail, to be sent again', undefined],
    ['callback', undefined],
    ['webhook attempt 1', 'wh-1'],
  ]);
});

it('is empty if no service knows anything', () => {
  expect(mergeTimeline(nothing)).toEqual([]);
});
