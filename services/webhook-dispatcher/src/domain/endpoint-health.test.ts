import { expect, it } from 'vitest';
import { FORGIVEN_AFTER_MS, type Health, healthyAgain, observe, RECORD_EVERY_MS } from './endpoint-health.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const limits = { warnAfterMs: DAY, disableAfterMs: 5 * DAY };

const failedAt = (atMs: number, address: string | null = null) => ({
  isDelivered: false,
  atMs,
  address,
  lastSuccessAtMs: null,
});
const deliveredAt = (atMs: number) => ({ ...failedAt(atMs), isDelivered: true });
const failing: Health = {
  state: 'failing',
  address: null,
  failingSinceMs: 0,
  lastFailureAtMs: 0,
  lastSuccessAtMs: null,
};

/** The states after each of these failures, one after another. */
function statesAfter(...timesMs: readonly number[]) {
  let health: Health | undefined;
  return timesMs.map((atMs) => {
    health = observe(health, failedAt(atMs), limits) ?? health;
    return health?.state;
  });
}

it('is failing, warned after a day and disabled after five days of failures', () => {
  expect(statesAfter(0, 23 * HOUR, DAY, 2 * DAY, 4 * DAY, 5 * DAY - 1, 5 * DAY)).toEqual([
    'failing',
    'failing',
    'warned',
    'warned',
    'warned',
    'warned',
    'disabled',
  ]);
});

it('is not disabled by failures that lie further apart than attempts of a delivery do', () => {
  const gap = FORGIVEN_AFTER_MS + 1;
  expect(statesAfter(0, gap, 2 * gap, 3 * gap)).toEqual(['failing', 'failing', 'failing', 'failing']);
  expect(observe(failing, failedAt(gap), limits)).toMatchObject({ failingSinceMs: gap });
});

it('is never disabled before it was warned', () => {
  const hasty = { warnAfterMs: HOUR, disableAfterMs: HOUR + 1 };
  const warned = observe(failing, failedAt(DAY), hasty);
  expect(warned?.state).toBe('warned');
  expect(observe(warned, failedAt(DAY), hasty)?.state).toBe('disabled');
});

it('records nothing for a success of a healthy endpoint, nor for failures that change nothing for an hour', () => {
  expect(observe(undefined, deliveredAt(5), limits)).toBeUndefined();
  expect(observe(healthyAgain(failing, 3), deliveredAt(5), limits)).toBeUndefined();
  expect(observe(failing, failedAt(RECORD_EVERY_MS - 1), limits)).toBeUndefined();
  expect(observe(failing, failedAt(RECORD_EVERY_MS), limits)).toMatchObject({
    failingSinceMs: 0,
    lastFailureAtMs: RECORD_EVERY_MS,
  });
});

it('fails since the beginning of its first attempt, although that one ended after another', () => {
  expect(observe({ ...failing, failingSinceMs: 9 }, failedAt(5), limits)).toMatchObject({
    failingSinceMs: 5,
  });
});

it('is healthy again after a success, and then fails anew', () => {
  const well = observe({ ...failing, state: 'warned' }, deliveredAt(2 * DAY), limits);
  expect(well).toEqual({
    state: 'healthy',
    address: null,
    failingSinceMs: null,
    lastFailureAtMs: null,
    lastSuccessAtMs: 2 * DAY,
  });
  expect(observe(well, failedAt(3 * DAY), limits)).toMatchObject({
    state: 'failing',
    failingSinceMs: 3 * DAY,
    lastSuccessAtMs: 2 * DAY,
  });
});

it('a success before the first failure ends nothing', () => {
  expect(observe({ ...failing, failingSinceMs: 10 }, deliveredAt(9), limits)).toBeUndefined();
});

it('fails anew at another address', () => {
  const old = { ...failing, state: 'warned', address: 'a' } as const;
  expect(observe(old, failedAt(DAY + 1, 'b'), limits)).toMatchObject({
    state: 'failing',
    address: 'b',
    failingSinceMs: DAY + 1,
  });
});

it('stays disabled whatever attempts show that were under way', () => {
  const disabled = { ...failing, state: 'disabled' } as const;
  expect(observe(disabled, deliveredAt(9 * DAY), limits)).toBeUndefined();
  expect(observe(disabled, failedAt(9 * DAY, 'b'), limits)).toBeUndefined();
});
