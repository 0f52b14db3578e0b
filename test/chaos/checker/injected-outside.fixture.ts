import {
  changed,
  delivery,
  type InjectedFault,
  move,
  moved,
  of,
  payment,
  received,
  withMore,
  without,
  world,
} from './spoil.fixture.ts';
import type { World } from './world.ts';

const denied = 'po-paid/status';
const drift = 'upstream:KES/balance';

/** The world with a different webhook about a payment, which the merchant received too. */
function reportedOtherwise(reference: string, what: RegExp, instead: string): World {
  const change = <Item extends { readonly reference: string; readonly body: string }>(item: Item): Item =>
    item.reference === reference ? { ...item, body: item.body.replace(what, instead) } : item;
  return { ...world, deliveries: world.deliveries.map(change), received: world.received.map(change) };
}

/** Errors at the rail, in the books, among the breaks or at the merchants: X1 to X4, L5, L11, L13, R2, R3, W1 to W4. */
export const injectedOutside: readonly InjectedFault[] = [
  [
    'X1 executed twice',
    'a second execution',
    moved(withMore('moves', move('po-paid', 'execution')), -10_050n),
  ],
  [
    'X2 more requests than attempts',
    'a request without an attempt',
    changed('payments', of('po-paid'), { attempts: 0 }),
  ],
  [
    'X2 request before acceptance',
    'a request before its payment was accepted',
    changed('moves', (one) => one.reference === 'po-open', { atMs: 0 }),
  ],
  [
    'X2 stranger',
    'a request for an unknown payment',
    withMore('moves', { ...move('po-open', 'request'), reference: 'po-nobody' }),
  ],
  [
    'X3 sent again unasked',
    'sent again unasked',
    {
      ...withMore('moves', { ...move('po-open', 'request'), outcome: 'duplicate' }),
      payments: world.payments.map((one) => (one.reference === 'po-open' ? { ...one, attempts: 2 } : one)),
    },
  ],
  ['X4 wallet moved', 'a wallet that moved by itself', moved(world, 1n)],
  [
    'L5 missing entry',
    'a payout without its capture',
    without('entries', ({ reference, kind }) => reference === 'po-paid' && kind === 'capture'),
  ],
  [
    'L5 missing entry',
    'a failed payout without its release',
    without('entries', ({ reference, kind }) => reference === 'po-failed' && kind === 'release'),
  ],
  [
    'L5 unpublished entry',
    'a hold that the ledger never published',
    without('ledgerEvents', ({ reference, kind }) => reference === 'po-open' && kind === 'hold'),
  ],
  ['L11 missing entry', 'a collection without its credit', without('entries', of('co-paid'))],
  [
    'L13 float',
    'a float that drifted',
    { ...world, purses: world.purses.map((one) => ({ ...one, float: one.float + 1n })) },
  ],
  [
    'L13 suspense',
    'money in suspense',
    { ...world, purses: world.purses.map((one) => ({ ...one, suspense: 1n })) },
  ],
  [
    'R2 opened while open',
    'a break opened twice',
    withMore('reconcilerEvents', { id: 'ev-3', type: 'opened', subject: denied, version: 2n }),
  ],
  [
    'R2 resolved while closed',
    'a break resolved twice',
    withMore(
      'reconcilerEvents',
      { id: 'ev-3', type: 'resolved', subject: denied, version: 2n },
      { id: 'ev-4', type: 'resolved', subject: denied, version: 3n },
    ),
  ],
  [
    'R2 finalised twice',
    'a payment finalised twice',
    withMore('reconcilerEvents', { id: 'ev-3', type: 'finalised', subject: 'po-paid', version: 0n }),
  ],
  ['R3 missing', 'a contradiction without its break', without('breaks', of('po-paid'))],
  [
    'R3 missing',
    'another amount without its break',
    withMore('callbacks', { reference: 'po-reversed', status: 'COMPLETED', amount: 1n }),
  ],
  [
    'R3 opened again',
    'a break that flaps',
    withMore(
      'reconcilerEvents',
      { id: 'ev-3', type: 'resolved', subject: denied, version: 2n },
      { id: 'ev-4', type: 'opened', subject: denied, version: 3n },
    ),
  ],
  [
    'R3 unexplained',
    'a break that nothing explains',
    withMore('breaks', { id: 'b', kind: 'books.unposted', reference: 'co-paid', isOpen: true }),
  ],
  [
    'R3 stranger',
    'a resolved break of no payment',
    withMore('breaks', { id: 'b', kind: 'payment.stuck', reference: 'po-nobody', isOpen: false }),
  ],
  [
    'R3 stranger',
    'an open break of a wallet',
    withMore('breaks', { id: drift, kind: 'wallet.drift', reference: 'upstream:KES', isOpen: true }),
  ],
  [
    'R3 drift',
    'a false drift that closed itself',
    withMore(
      'reconcilerEvents',
      { id: 'ev-3', type: 'opened', subject: drift, version: 1n },
      { id: 'ev-4', type: 'resolved', subject: drift, version: 2n },
    ),
  ],
  [
    'W1 undelivered',
    'a webhook that is not delivered',
    changed('deliveries', of('po-paid'), { state: 'pending' }),
  ],
  [
    'W1 owed to nobody',
    'an end without a delivery',
    {
      ...without('deliveries', of('co-paid')),
      received: world.received.filter((one) => one.reference !== 'co-paid'),
    },
  ],
  [
    'W1 owed twice',
    'an end that is owed twice',
    withMore('deliveries', { ...delivery('po-paid'), id: 'wh-2' }),
  ],
  ['W1 not received', 'a webhook that did not arrive', without('received', of('co-paid'))],
  ['W2 other bytes', 'other bytes', changed('received', of('po-paid'), { body: '{}' })],
  [
    'W2 another content',
    'another amount than the payout’s',
    reportedOtherwise('po-paid', /"amount":[\d.]+/, '"amount":101'),
  ],
  [
    'W2 another content',
    'another fee than the collection’s',
    reportedOtherwise('co-paid', /"transaction_fee":[\d.]+/, '"transaction_fee":2'),
  ],
  [
    'W3 no such end',
    'an end that was not',
    withMore('deliveries', { ...delivery('po-paid'), id: 'wh-2', kind: 'payout-failed' }),
  ],
  [
    'W3 no delivery',
    'a webhook of no delivery',
    withMore('received', { ...received('po-paid'), webhookId: 'wh-unknown' }),
  ],
  [
    'W3 stranger',
    'a delivery for an unknown payment',
    withMore('deliveries', { ...delivery('po-paid'), id: 'wh-2', reference: 'po-nobody' }),
  ],
  [
    'W3 stranger',
    'a webhook for an unknown payment',
    withMore('received', { ...received('po-paid'), reference: 'po-nobody' }),
  ],
  [
    'W4 owed to another',
    'a webhook that another merchant is owed',
    changed('deliveries', of('po-paid'), { merchantId: 'rival' }),
  ],
  [
    'W4 sent to another',
    'a webhook to another merchant',
    changed('received', of('po-paid'), { merchantId: 'rival' }),
  ],
  [
    'W4 sent to another',
    'a webhook to the address of the other API',
    changed('received', of('po-paid'), {
      path: `/merchant/${payment('po-paid').merchantId}/collections`,
    }),
  ],
  [
    'books',
    'what the audit found',
    { ...world, books: [{ invariant: 'L3', subject: 'demo:KES', message: 'does not add up' }] },
  ],
];
