import { createWorld, only } from './world.fixture.ts';
import type { World } from './world.ts';

/** A world in which everything agrees. */
export const world = createWorld();
const callOf = (reference: string) => only(world.calls.filter((call) => call.reference === reference));

/** The lists of a world. */
type Key = {
  readonly [Name in keyof World]: World[Name][number] extends object ? Name : never;
}[keyof World];

/** The world with every item changed that `matches`. */
function changed<Name extends Key>(
  name: Name,
  matches: (item: World[Name][number]) => boolean,
  change: Partial<World[Name][number]>,
): World {
  const items: readonly World[Name][number][] = world[name];
  const spoiled = items.map((item) => (matches(item) ? Object.assign({}, item, change) : item));
  return { ...world, [name]: spoiled };
}

/** The world without every item that `matches`. */
function without<Key extends keyof World>(key: Key, matches: (item: World[Key][number]) => boolean): World {
  const items: readonly World[Key][number][] = world[key];
  return { ...world, [key]: items.filter((item) => !matches(item)) };
}

/** The world with more items. */
function withMore<Key extends keyof World>(key: Key, ...more: World[Key][number][]): World {
  return { ...world, [key]: [...world[key], ...more] };
}

const of =
  (reference: string) =>
  (item: { readonly reference: string }): boolean =>
    item.reference === reference;

const payment = (reference: string) => only(world.payments.filter(of(reference)));
const event = (id: string) => only(world.events.filter((one) => one.id === id));
const move = (reference: string, kind: string, operation = 'payout') =>
  only(
    world.moves.filter(
      (one) => one.reference === reference && one.kind === kind && one.operation === operation,
    ),
  );
const delivery = (reference: string) => only(world.deliveries.filter(of(reference)));
const received = (reference: string) => only(world.received.filter(of(reference)));

/** A payment that nobody knew of, all traces in order. */
const forgottenPayment = {
  ...payment('po-open'),
  reference: 'po-other',
  merchantReference: 'm-refused',
};
const itsOpening = {
  ...event('po-open/opened'),
  id: 'po-other/opened',
  reference: 'po-other',
  merchantReference: 'm-refused',
};
const itsBreak = { id: 'po-other/payment.stuck', kind: 'payment.stuck', reference: 'po-other', isOpen: true };

/** One violation of each rule, or more, and the world that it is planted in. */
export const planted: readonly (readonly [invariant: string, what: string, world: World])[] = [
  ['P1', 'an open payment of which nobody is told', without('breaks', of('po-open'))],
  [
    'P1',
    'a payment that ended twice alike',
    {
      ...withMore('events', { ...event('po-paid/completed'), id: 'again', version: 4n }),
      payments: world.payments.map((one) => (one.reference === 'po-paid' ? { ...one, version: 4n } : one)),
    },
  ],
  ['P2', 'a history without its beginning', without('events', ({ id }) => id === 'po-item/opened')],
  [
    'P2',
    'two steps from one version',
    changed('events', ({ id }) => id === 'po-open/submitted', { version: 1n }),
  ],
  ['P2', 'a record that its history does not lead to', changed('payments', of('po-paid'), { version: 9n })],
  [
    'P3',
    'a refused payout that is recorded',
    {
      ...withMore('payments', forgottenPayment),
      events: [...world.events, itsOpening],
      breaks: [...world.breaks, itsBreak],
    },
  ],
  ['P4', 'a repeat that is another payment', withMore('calls', { ...callOf('m-po-paid'), ours: 'po-else' })],
  [
    'P4',
    'an answer that nobody can read',
    withMore('calls', { ...callOf('m-po-paid'), outcome: 'strange', ours: null }),
  ],
  [
    'P4',
    'a repeat that conflicts with itself',
    withMore('calls', { ...callOf('m-po-paid'), outcome: 'conflict', ours: null }),
  ],
  [
    'P5',
    'a reference used twice',
    {
      ...withMore('payments', { ...forgottenPayment, merchantReference: 'm-po-open' }),
      events: [...world.events, { ...itsOpening, merchantReference: 'm-po-open' }],
      breaks: [...world.breaks, itsBreak],
    },
  ],
  ['P5', 'an opening without its record', withMore('events', itsOpening)],
  [
    'P5',
    'a batch of a payout’s reference',
    withMore('batches', {
      merchantId: 'demo',
      merchantReference: 'm-po-open',
      reference: 'ba-2',
      items: 0,
      total: 0n,
    }),
  ],
  ['P6', 'other content accepted', withMore('calls', { ...callOf('m-po-paid'), content: '5 KES 1234' })],
  ['P7', 'a batch with an item too few', changed('batches', of('ba-1'), { items: 2 })],
  ['P7', 'a batch whose sum differs', changed('batches', of('ba-1'), { total: 10_001n })],
  [
    'P8',
    'a 09 without a record',
    withMore('calls', { ...callOf('m-po-paid'), reference: 'm-lost', ours: 'po-lost' }),
  ],
  [
    'P9',
    'a payout forgotten',
    withMore('calls', {
      ...callOf('m-po-paid'),
      operation: 'lookUp',
      outcome: 'unknown',
      ours: null,
      startedAtMs: callOf('m-po-paid').endedAtMs + 1,
    }),
  ],
  ['P10', 'an OTP taken twice', withMore('moves', move('co-paid', 'request', 'complete'))],
  ['P10', 'a fourth code', changed('payments', of('co-paid'), { completionAttempts: 4 })],
  [
    'P10',
    'a completion that the flow does not ask for',
    withMore('moves', {
      ...move('co-failed', 'request', 'payin'),
      operation: 'complete',
      outcome: 'incorrect otp',
    }),
  ],
  [
    'P11',
    'a failure by timer',
    {
      ...without('moves', (one) => one.reference === 'co-failed' && one.kind === 'execution'),
      callbacks: world.callbacks.filter((one) => one.reference !== 'co-failed'),
    },
  ],
  [
    'P12',
    'FAILED, yet executed',
    {
      ...changed('moves', (one) => one.reference === 'co-failed' && one.kind === 'execution', {
        outcome: 'COMPLETED',
      }),
      callbacks: world.callbacks.filter((one) => one.reference !== 'co-failed'),
      purses: world.purses.map((one) => ({ ...one, after: one.after + 9_900n, float: one.float + 9_900n })),
    },
  ],
  ['P12', 'released, yet executed', withMore('entries', { reference: 'po-paid', kind: 'release' })],
  [
    'P13',
    'an end that changed',
    {
      ...world,
      events: [
        ...world.events.filter(({ id }) => id !== 'po-failed/submitted'),
        { ...event('po-failed/failed'), id: 'early', type: 'completed', version: 2n },
      ],
    },
  ],
  ['P14', 'a time that goes back', changed('events', ({ id }) => id === 'po-paid/completed', { atMs: 0 })],
  [
    'X1',
    'a second execution',
    {
      ...withMore('moves', move('po-paid', 'execution')),
      purses: world.purses.map((one) => ({ ...one, after: one.after - 10_050n, float: one.float - 10_050n })),
    },
  ],
  ['X2', 'a request without an attempt', changed('payments', of('po-paid'), { attempts: 0 })],
  ['X2', 'a request before its attempt', changed('moves', (one) => one.reference === 'po-open', { atMs: 0 })],
  [
    'X3',
    'sent again unasked',
    {
      ...withMore('moves', { ...move('po-open', 'request'), outcome: 'duplicate' }),
      payments: world.payments.map((one) => (one.reference === 'po-open' ? { ...one, attempts: 2 } : one)),
    },
  ],
  [
    'X4',
    'a wallet that moved by itself',
    {
      ...world,
      purses: world.purses.map((one) => ({ ...one, after: one.after + 1n, float: one.float + 1n })),
    },
  ],
  [
    'L12',
    'a float that drifted',
    { ...world, purses: world.purses.map((one) => ({ ...one, float: one.float + 1n })) },
  ],
  ['L12', 'money in suspense', { ...world, purses: world.purses.map((one) => ({ ...one, suspense: 1n })) }],
  [
    'R1',
    'open, though the rail has ended it',
    {
      ...withMore('moves', { ...move('po-open', 'request'), kind: 'execution', outcome: 'FAILED' }),
    },
  ],
  [
    'R2',
    'a break opened twice',
    withMore('reconcilerEvents', { id: 'ev-3', type: 'opened', subject: 'po-paid/callback.denied' }),
  ],
  [
    'R2',
    'a payment settled twice',
    withMore('reconcilerEvents', { id: 'ev-3', type: 'settled', subject: 'po-paid' }),
  ],
  ['R3', 'a contradiction without its break', without('breaks', of('po-paid'))],
  [
    'R3',
    'another amount without its break',
    withMore('callbacks', { reference: 'po-reversed', status: 'COMPLETED', amount: 1n }),
  ],
  [
    'R3',
    'a break that nothing explains',
    withMore('breaks', { id: 'b', kind: 'books.unposted', reference: 'co-paid', isOpen: true }),
  ],
  ['W1', 'a webhook that is not delivered', changed('deliveries', of('po-paid'), { state: 'pending' })],
  [
    'W1',
    'an end of which nothing tells',
    {
      ...without('deliveries', of('co-paid')),
      received: world.received.filter((one) => one.reference !== 'co-paid'),
    },
  ],
  ['W1', 'a webhook that did not arrive', without('received', of('co-paid'))],
  ['W2', 'other bytes', changed('received', of('po-paid'), { body: '{}' })],
  [
    'W2',
    'another amount than the record’s',
    {
      ...changed('deliveries', of('po-paid'), {
        body: delivery('po-paid').body.replace(/"amount":[\d.]+/, '"amount":101'),
      }),
      received: world.received.map((one) =>
        one.reference === 'po-paid'
          ? { ...one, body: one.body.replace(/"amount":[\d.]+/, '"amount":101') }
          : one,
      ),
    },
  ],
  [
    'W3',
    'an end that was not',
    withMore('deliveries', { ...delivery('po-paid'), id: 'wh-2', kind: 'payout-failed' }),
  ],
  [
    'W3',
    'a webhook of no delivery',
    withMore('received', { ...received('po-paid'), webhookId: 'wh-unknown' }),
  ],
  ['W4', 'a webhook to another merchant', changed('received', of('po-paid'), { merchantId: 'rival' })],
  [
    'books L3',
    'what the audit found',
    { ...world, books: [{ invariant: 'L3', subject: 'demo:KES', message: 'does not add up' }] },
  ],
];
