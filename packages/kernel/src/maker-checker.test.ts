import { expect, it } from 'vitest';
import { checkDecision, proposalExpiryMs } from './maker-checker.ts';

const at = new Date(0);
const week = new Date(7 * 24 * 3_600_000);

it.each([
  ['proposed', 'approve', 'kofi', at, 'fresh'],
  ['proposed', 'approve', 'ama', at, 'same_operator'],
  ['proposed', 'approve', 'kofi', week, 'expired'],
  ['proposed', 'reject', 'ama', at, 'fresh'],
  ['proposed', 'reject', 'kofi', week, 'fresh'],
  ['approved', 'approve', 'kofi', week, 'repeated'],
  ['approved', 'approve', 'ama', at, 'same_operator'],
  ['approved', 'reject', 'kofi', at, 'decided'],
  ['rejected', 'approve', 'kofi', at, 'decided'],
  ['rejected', 'reject', 'esi', at, 'repeated'],
] as const)('%s by ama: to %s it as %s at %s is %s', (status, verdict, by, when, expected) => {
  const judged = checkDecision({ requestedBy: 'ama', at, status }, { verdict, by, at: when });
  expect(judged.ok ? judged.value : judged.refusal).toBe(expected);
});

it('a proposal can be approved for seven days', () => {
  expect(proposalExpiryMs({ at })).toBe(week.getTime());
});
