import { expect, test } from 'vitest';
import { type AttemptResult, decideNext, retryDelaysMs } from './delivery.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000_000;
const MIDDLE = 0.5;

const after = (result: AttemptResult, attemptsBefore = 0, chance = MIDDLE) =>
  decideNext({ result, attemptsBefore, delaysMs: retryDelaysMs, nowMs: NOW_MS, chance });
const answered = (status: number, retryAfterMs: number | null = null): AttemptResult => ({
  kind: 'answered',
  status,
  retryAfterMs,
});

test.each([200, 201, 202, 204, 299])('status %i delivers', (status) => {
  expect(after(answered(status))).toEqual({ kind: 'delivered' });
});

test.each([301, 302, 307, 400, 401, 404, 409, 429, 500, 503])('status %i is tried again', (status) => {
  expect(after(answered(status))).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 5_000 });
});

test.each(['not_public', 'timeout', 'dns', 'connect', 'tls', 'reset', 'malformed'] as const)(
  'no answer (%s) is tried again',
  (error) => {
    expect(after({ kind: 'failed', error }, 1)).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 30_000 });
  },
);

test('410 stops at once', () => {
  expect(after(answered(410))).toEqual({ kind: 'exhausted', reason: 'the endpoint is gone (410)' });
});

test('a refused address stops at once', () => {
  expect(after({ kind: 'failed', error: 'refused' })).toEqual({
    kind: 'exhausted',
    reason: 'address refused',
  });
});

test('the schedule covers about three days and then gives up', () => {
  const total = retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0);
  expect(total / HOUR_MS).toBeGreaterThan(66);
  expect(total / HOUR_MS).toBeLessThan(84);
  expect(after(answered(500), retryDelaysMs.length - 1)).toEqual({
    kind: 'retry',
    dueAtMs: NOW_MS + 24 * HOUR_MS,
  });
  expect(after(answered(500), retryDelaysMs.length)).toEqual({
    kind: 'exhausted',
    reason: 'every attempt failed',
  });
});

test('chance spreads a pause by a fifth to either side', () => {
  expect(after(answered(500), 2, 0)).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 96_000 });
  expect(after(answered(500), 2, 1)).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 144_000 });
});

test('Retry-After lengthens a pause, never shortens it, and is bounded by a day', () => {
  expect(after(answered(503, 60_000))).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 60_000 });
  expect(after(answered(503, 1))).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 5_000 });
  expect(after(answered(503, 1_000 * HOUR_MS))).toEqual({ kind: 'retry', dueAtMs: NOW_MS + 24 * HOUR_MS });
});

test('Retry-After adds no attempt to the schedule', () => {
  expect(after(answered(503, 1_000), retryDelaysMs.length).kind).toBe('exhausted');
});
