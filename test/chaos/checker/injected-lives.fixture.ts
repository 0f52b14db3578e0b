import {
  changed,
  event,
  type InjectedFault,
  move,
  moved,
  of,
  payment,
  withMore,
  without,
  world,
} from './spoil.fixture.ts';
import type { World } from './world.ts';

/** A payout that was accepted and never sent. */
const neverSent: World = {
  ...changed('payments', of('po-open'), { content: '10000 KES 9999', attempts: 0, attemptedAtMs: null }),
  calls: world.calls.map((call) =>
    call.reference === 'm-po-open' ? { ...call, content: '10000 KES 9999' } : call,
  ),
  moves: world.moves.filter(({ reference }) => reference !== 'po-open'),
};

/** A collection that its customer confirmed, and that stays open. */
const confirmed: World = {
  ...changed('payments', of('co-open'), { flow: 'otp', content: '10000 KES 1234' }),
  calls: world.calls.map((call) =>
    call.reference === 'm-co-open' ? { ...call, content: '10000 KES 1234' } : call,
  ),
  moves: [...world.moves, { ...move('co-open', 'request', 'payin'), operation: 'complete' }],
};

const isExecutionOf = (reference: string) => (one: World['moves'][number]) =>
  one.reference === reference && one.kind === 'execution';

/** Impossible courses of payments: P1, P2, P10, P11, P13, P14. */
export const injectedInLives: readonly InjectedFault[] = [
  ['P1 unreported', 'an open payment without a break', without('breaks', of('po-open'))],
  ['P1 left open', 'an accepted payout that was never sent, behind a stuck break', neverSent],
  ['P1 left open', 'a confirmed collection that stays open, behind a stuck break', confirmed],
  [
    'P1 ended twice',
    'a payment that ended twice alike',
    {
      ...withMore('events', { ...event('po-paid/completed'), id: 'again', version: 4n }),
      payments: world.payments.map((one) => (one.reference === 'po-paid' ? { ...one, version: 4n } : one)),
    },
  ],
  ['P2 beginning', 'a history without its beginning', without('events', ({ id }) => id === 'po-item/opened')],
  [
    'P2 version twice',
    'two steps from one version',
    changed('events', ({ id }) => id === 'po-open/submitted', { version: 1n }),
  ],
  [
    'P2 opened twice',
    'a second opening',
    {
      ...withMore('events', { ...event('po-open/opened'), id: 'again', version: 3n, atMs: 2e12 }),
      payments: world.payments.map((one) => (one.reference === 'po-open' ? { ...one, version: 3n } : one)),
    },
  ],
  [
    'P2 another end',
    'a record that ended otherwise than its history',
    changed('events', ({ id }) => id === 'po-paid/completed', { type: 'failed' }),
  ],
  [
    'P2 another end',
    'an open record whose history has ended',
    changed('events', ({ id }) => id === 'po-open/submitted', { type: 'completed' }),
  ],
  [
    'P2 another version',
    'a record that its history does not lead to',
    changed('payments', of('po-paid'), { version: 9n }),
  ],
  ['P10 taken twice', 'an OTP taken twice', withMore('moves', move('co-paid', 'request', 'complete'))],
  ['P10 too many codes', 'a fourth code', changed('payments', of('co-paid'), { completionAttempts: 4 })],
  [
    'P10 not asked for',
    'a completion that the flow does not ask for',
    withMore('moves', {
      ...move('co-failed', 'request', 'payin'),
      operation: 'complete',
      outcome: 'incorrect otp',
    }),
  ],
  [
    'P10 after the end',
    'a completion after the end',
    {
      ...withMore('events', {
        ...event('co-paid/completed'),
        id: 'late',
        type: 'completionRequested',
        version: 4n,
      }),
      payments: world.payments.map((one) => (one.reference === 'co-paid' ? { ...one, version: 4n } : one)),
    },
  ],
  [
    'P11 by timer',
    'a failure by timer',
    {
      ...without('moves', isExecutionOf('co-failed')),
      callbacks: world.callbacks.filter((one) => one.reference !== 'co-failed'),
    },
  ],
  [
    'P13 second end',
    'an end that changed',
    {
      ...world,
      events: [
        ...world.events.filter(({ id }) => id !== 'po-failed/submitted'),
        { ...event('po-failed/failed'), id: 'early', type: 'completed', version: 2n },
      ],
    },
  ],
  [
    'P14 back in time',
    'a time that goes back',
    changed('events', ({ id }) => id === 'po-paid/completed', { atMs: 0 }),
  ],
  [
    'P14 early attempt',
    'an attempt before the acceptance',
    changed('payments', of('po-paid'), { attemptedAtMs: payment('po-paid').acceptedAtMs - 1 }),
  ],
  [
    'R1 open, ended there',
    'open, though the rail has ended it',
    withMore('moves', { ...move('po-open', 'request'), kind: 'execution', outcome: 'FAILED' }),
  ],
  [
    'P12 failed, executed',
    'FAILED, yet executed',
    moved(
      {
        ...changed('moves', isExecutionOf('co-failed'), { outcome: 'COMPLETED' }),
        callbacks: world.callbacks.filter((one) => one.reference !== 'co-failed'),
      },
      9_900n,
    ),
  ],
  [
    'P12 released, executed',
    'released, yet executed',
    {
      ...withMore('entries', { reference: 'po-paid', kind: 'release' }),
      ledgerEvents: [...world.ledgerEvents, { reference: 'po-paid', kind: 'release' }],
    },
  ],
  [
    'P12 completed, not executed',
    'COMPLETED, and not executed',
    moved(without('moves', isExecutionOf('po-paid')), 10_050n),
  ],
  [
    'P12 reversed, not taken back',
    'REVERSED, and not taken back',
    moved(
      {
        ...without('moves', ({ kind }) => kind === 'reversal'),
        callbacks: world.callbacks.filter(({ status }) => status !== 'REVERSED'),
      },
      -10_000n,
    ),
  ],
  [
    'P12 completed, taken back',
    'COMPLETED, and taken back',
    moved(withMore('moves', { ...move('po-reversed', 'reversal'), reference: 'po-paid' }), 10_000n),
  ],
  [
    'P12 another sum',
    'another amount executed than was asked',
    moved(changed('moves', isExecutionOf('po-paid'), { amount: 10_001n }), -1n),
  ],
];
