import type { ChangeView, DecisionView, OrderView } from '@pesewa/contracts';
import type { Answers } from '../console.fixture.ts';
import { evil } from './breaks.fixture.ts';

/** What is the same of every proposal. */
export const asked = {
  status: 'proposed',
  requestedBy: 'kofi',
  requestedAt: '2026-11-27T08:00:00Z',
} as const;
/** An order of money. */
export const order = {
  ...asked,
  commandId: 'cm-1',
  kind: 'withdraw',
  merchantId: 'demo',
  currency: 'KES',
  amount: '20',
  reason: evil,
  expiresAt: '2026-12-04T08:00:00Z',
} satisfies OrderView;
/** A decision on a payment. */
export const decision = {
  ...asked,
  id: 'dc-1',
  breakId: 'po-1/status',
  reference: 'po-1',
  currency: 'KES',
  amount: '20',
  merchantId: 'demo',
  rail: 'upstream',
  outcome: 'failed',
  note: evil,
} satisfies DecisionView;
/** A change of a merchant's settings. */
export const change = {
  ...asked,
  id: 'sc-1',
  merchantId: 'demo',
  kind: 'webhooks',
  fields: [
    { field: 'webhooks.payoutsUrl', from: null, to: evil, currency: null },
    { field: 'limits.perPayoutMax.KES', from: '100', to: '5000', currency: 'KES' },
  ],
  reason: evil,
} satisfies ChangeView;
/** A page of a list, which is the last. */
export const pageOf = (...items: readonly unknown[]) => ({ items, next: null });
const wallet = { merchantId: 'demo', currency: 'KES', available: '100', held: '0', sequence: 1 };
/** What services answer of all of them. */
export const answers: Answers = {
  'ledger GET /commands': pageOf(order, { ...order, commandId: 'cm-2', requestedBy: 'ama' }),
  'ledger GET /commands/cm-1': order,
  'ledger GET /accounts/demo/KES': wallet,
  'reconciler GET /decisions': pageOf(decision),
  'reconciler GET /decisions/dc-1': decision,
  'ledger GET /changes': pageOf(change),
  'ledger GET /changes/sc-1': change,
};
