import { expect, it } from 'vitest';
import type { PayoutDomainEvent } from './payout-state.ts';
import { describe } from './payout-state.ts';

it.each<[PayoutDomainEvent, string]>([
  [{ kind: 'requeued', dueAtMs: 0, unclear: true }, 'not found at the rail, to be sent again'],
  [{ kind: 'requeued', dueAtMs: 0, unclear: false }, 'not sent, to be sent again'],
  [{ kind: 'failed', reason: 'Closed' }, 'failed'],
  [{ kind: 'failed', reason: 'Failed', byOperators: true }, 'failed, as two operators decided'],
  [
    { kind: 'failed', reason: 'Cancelled', cancelledBy: 'ama' },
    'failed: cancelled by ama before it was sent',
  ],
])('operators read what happened, and who did it: %j', (domainEvent, text) => {
  expect(describe(domainEvent)).toBe(text);
});
