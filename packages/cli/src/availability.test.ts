import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const measured = {
  rail: 'upstream',
  operatorCode: null,
  completed: 97,
  failed: { customer: 2, rail: 1, other: 0 },
  reversed: 0,
  successRate: 0.97,
  medianMs: 4_200,
  p95Ms: 90_000,
  topFailure: { reason: 'CUSTOMER DECLINED', count: 2 },
  openTooLong: { count: 1_000, isCut: true, afterMs: 90_000 },
};
const few = {
  ...measured,
  operatorCode: 'GHMTN',
  completed: 3,
  successRate: null,
  medianMs: null,
  p95Ms: null,
};
const answer = (isSample: boolean, ...items: readonly object[]) => ({
  status: 200,
  body: { at: '2026-11-27T12:00:00.000Z', from: '2026-11-27T11:00:00.000Z', isSample, items },
});

it('shows rate and times of each rail and mobile operator at both gateways, and of what time', async () => {
  const line = commandLine([answer(true, measured), answer(false, measured, few)]);
  expect(await line.run('availability')).toBe(0);
  expect(line.requests).toEqual(['http://payouts/availability', 'http://collections/availability']);
  for (const shown of [
    'payouts      upstream  all              97 of 100  97.0%',
    '4.2 s   1.5 min    CUSTOMER DECLINED (2)  1000 or more',
    'collections  upstream  GHMTN            3 of 6     too few',
    'payouts: accepted from 2026-11-27T11:00:00.000Z to 2026-11-27T12:00:00.000Z, a sample of them\n',
  ])
    expect(line.printed()).toContain(shown);
});

it('prints JSON', async () => {
  const line = commandLine([answer(false, measured), answer(false)]);
  expect(await line.run('availability', '--json')).toBe(0);
  expect(JSON.parse(line.printed())).toMatchObject([
    { payments: 'payouts', items: [measured] },
    { items: [] },
  ]);
});
