import { describe, expect, it } from 'vitest';
import { newKinds, terms as termsOf } from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import type { RailAnswer } from './judging.ts';
import { awaited, type Terms, type Tracked } from './tracked.ts';
import { judge } from './verdict.ts';

const LAG_MS = 60_000;
const GRACE_MS = 30_000;
const payout = termsOf('payout');
const paid: RailAnswer = { kind: 'completed', amount: 10_000n, fee: 50n, reason: null };
const failed: RailAnswer = { kind: 'failed', reason: 'Declined' };
const back: RailAnswer = { kind: 'reversed', amount: 10_000n, fee: 50n, reason: 'Reversed' };
const says = (status: string, amount: string | null = '100.00', fee: string | null = '0.5'): Claim => ({
  rail: 'upstream',
  kind: 'payout',
  proven: false,
  status,
  amount,
  currency: null,
  fee,
  reason: null,
  atMs: 0,
});

function poll(given: {
  readonly terms?: Terms;
  readonly status?: Tracked['status'];
  readonly callbacks?: readonly Claim[];
  readonly breaks?: readonly string[];
  readonly polls?: number;
  readonly refusedAtMs?: number;
  readonly answer: RailAnswer;
  readonly askedAtMs?: number;
}) {
  const terms = given.terms ?? payout;
  const { answer, askedAtMs = 1_000, status = 'open', callbacks = [], polls = 0 } = given;
  const { refusedAtMs = null, breaks = [] } = given;
  const tracked: Tracked = {
    ...awaited('po-1', 0),
    terms,
    status,
    callbacks,
    breaks,
    polls,
    refusedAtMs,
  };
  const verdict = judge({
    tracked,
    terms,
    source: 'poll',
    answer,
    isScheduled: true,
    askedAtMs,
    lagMs: LAG_MS,
    notFoundGraceMs: GRACE_MS,
    pollsBeforeBreak: 20,
    arrived: null,
  });
  return {
    fact: verdict.fact?.status ?? null,
    breaks: newKinds(tracked, verdict),
    lagging: verdict.lagging,
    undecided: verdict.undecided,
  };
}
const nothing = { fact: null, breaks: [], lagging: false, undecided: false };

describe('a payout under poll', () => {
  it.each<[string, Parameters<typeof poll>[0], Partial<ReturnType<typeof poll>>]>([
    ['pending: nothing', { answer: { kind: 'pending' } }, {}],
    ['no answer: nothing', { answer: { kind: 'unknown' } }, {}],
    ['not found: a fact for the owner', { answer: { kind: 'notFound' } }, { fact: 'notFound' }],
    ['completed without a callback', { answer: paid }, { fact: 'completed' }],
    ['completed as claimed', { answer: paid, callbacks: [says('COMPLETED')] }, { fact: 'completed' }],
    ['failed as claimed', { answer: failed, callbacks: [says('FAILED')] }, { fact: 'failed' }],
    [
      'reversed after a claim of completion',
      { answer: back, callbacks: [says('COMPLETED')] },
      { fact: 'reversed' },
    ],
    ['another amount paid', { answer: { ...paid, amount: 9_000n } }, { breaks: ['payout.amount_differs'] }],
    [
      'another amount claimed: the lookup stands',
      { answer: paid, callbacks: [says('COMPLETED', '101')] },
      { fact: 'completed', breaks: ['callback.amount_differs'] },
    ],
    [
      'another end claimed: the lookup stands',
      { answer: paid, callbacks: [says('COMPLETED'), says('FAILED')] },
      { fact: 'completed', breaks: ['callback.denied'] },
    ],
    [
      'a claim, no end yet',
      { answer: { kind: 'pending' }, callbacks: [says('COMPLETED')] },
      { lagging: true },
    ],
    [
      'a claim, no end after the allowed lag',
      { answer: { kind: 'pending' }, callbacks: [says('COMPLETED')], askedAtMs: LAG_MS },
      { breaks: ['callback.denied'] },
    ],
    [
      'a claim the rail has never heard of',
      { answer: { kind: 'notFound' }, callbacks: [says('COMPLETED')], askedAtMs: LAG_MS },
      { fact: 'notFound', breaks: ['callback.denied'] },
    ],
    [
      'a claim and no answer: the claim is not denied',
      { answer: { kind: 'unknown' }, callbacks: [says('COMPLETED')], askedAtMs: LAG_MS - 1 },
      { lagging: true },
    ],
    [
      'a claim, and no answer after the allowed lag: asked on, no oftener than anything',
      { answer: { kind: 'unknown' }, callbacks: [says('COMPLETED')], askedAtMs: LAG_MS },
      { undecided: true },
    ],
    [
      'a break that was opened before',
      {
        answer: { kind: 'pending' },
        callbacks: [says('FAILED')],
        askedAtMs: LAG_MS,
        breaks: ['callback.denied'],
      },
      {},
    ],
    ['many polls without an end', { answer: { kind: 'pending' }, polls: 19 }, { breaks: ['payment.stuck'] }],
    ['one poll fewer', { answer: { kind: 'pending' }, polls: 18 }, {}],
    ['many polls, the last of which finds the end', { answer: paid, polls: 19 }, { fact: 'completed' }],
    [
      'many polls, and the rail does not know it',
      { answer: { kind: 'notFound' }, polls: 19 },
      { fact: 'notFound', breaks: ['payment.stuck'] },
    ],
    [
      'not found a grace time after the rail took it on',
      { answer: { kind: 'notFound', takenOnAtMs: 1_000 }, askedAtMs: 1_000 + GRACE_MS },
      { fact: 'notFound', breaks: ['payout.not_found'] },
    ],
    [
      'not found a moment earlier',
      { answer: { kind: 'notFound', takenOnAtMs: 1_000 }, askedAtMs: 999 + GRACE_MS },
      { fact: 'notFound' },
    ],
    [
      'not found once more: one break, and never stuck as well',
      {
        answer: { kind: 'notFound', takenOnAtMs: 0 },
        askedAtMs: 900_000,
        polls: 40,
        breaks: ['payout.not_found'],
      },
      { fact: 'notFound' },
    ],
    [
      'not found where a callback claims an end: still one discrepancy',
      {
        answer: { kind: 'notFound', takenOnAtMs: 0 },
        askedAtMs: LAG_MS,
        callbacks: [says('COMPLETED')],
      },
      { fact: 'notFound', breaks: ['payout.not_found'] },
    ],
    [
      'not found within the grace time where a callback claims an end',
      { answer: { kind: 'notFound', takenOnAtMs: 0 }, callbacks: [says('COMPLETED')] },
      { fact: 'notFound', lagging: true },
    ],
    [
      'refused after an unclear attempt, and not found a grace time later',
      { answer: { kind: 'notFound' }, refusedAtMs: 1_000, askedAtMs: 1_000 + GRACE_MS },
      { fact: 'notFound', breaks: ['payout.refused_again'] },
    ],
    [
      'refused after an unclear attempt that was executed',
      { answer: paid, refusedAtMs: 1_000, askedAtMs: 1_000 + GRACE_MS },
      { fact: 'completed' },
    ],
  ])('%s', (_name, given, expected) => {
    expect(poll(given)).toEqual({ ...nothing, ...expected });
  });
});

describe('an ended payout under poll', () => {
  it.each<[string, Parameters<typeof poll>[0], Partial<ReturnType<typeof poll>>]>([
    [
      'the end that is known is no news',
      { status: 'completed', answer: paid, callbacks: [says('COMPLETED')] },
      {},
    ],
    [
      'a reversal is, and is asked for until its owner has taken it',
      { status: 'completed', answer: back, callbacks: [says('REVERSED')] },
      { fact: 'reversed', undecided: true },
    ],
    ['a reversal that is known is not', { status: 'reversed', answer: back }, {}],
    [
      'a lookup that lags behind the reversal',
      { status: 'reversed', answer: paid, callbacks: [says('REVERSED')] },
      {},
    ],
    [
      'a claim of reversal may yet come true',
      { status: 'completed', answer: paid, callbacks: [says('REVERSED')] },
      { lagging: true },
    ],
    [
      'a claim of reversal that does not',
      { status: 'completed', answer: paid, callbacks: [says('REVERSED')], askedAtMs: LAG_MS },
      { breaks: ['callback.denied'] },
    ],
    [
      'a forged failure moves nothing',
      { status: 'completed', answer: paid, callbacks: [says('FAILED')] },
      { breaks: ['callback.denied'] },
    ],
    [
      'the rail contradicts the owner: one break',
      { status: 'completed', answer: failed, callbacks: [says('COMPLETED')] },
      { breaks: ['payment.contradiction'] },
    ],
    ['paid, yet failed here', { status: 'failed', answer: paid }, { breaks: ['payment.contradiction'] }],
    [
      'paid, yet failed here, and reported before',
      {
        status: 'failed',
        answer: paid,
        callbacks: [says('COMPLETED')],
        breaks: ['payment.contradiction'],
      },
      {},
    ],
    ['reversed, yet failed here', { status: 'failed', answer: back }, { breaks: ['payment.contradiction'] }],
    [
      'not found after the end that the rail reported',
      { status: 'completed', answer: { kind: 'notFound', takenOnAtMs: 0 }, askedAtMs: 900_000 },
      {},
    ],
    ['not found after a refused hold', { status: 'failed', answer: { kind: 'notFound' } }, {}],
  ])('%s', (_name, given, expected) => {
    expect(poll(given)).toEqual({ ...nothing, ...expected });
  });
});
