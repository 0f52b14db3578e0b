import { z } from 'zod';
import { reference } from '../text.ts';
import { onlyIfTrue, pageLimit, pageOf, textUpTo } from './lists.ts';
import { declareOperations, strictFields } from './operation.ts';

/**
 * What a comparison finds of a wallet: some payments in flight give exactly the difference, or there is none; the
 * difference is within the range of payments in flight, and no combination of them gives it; there are too many to tell;
 * payments were posted during each look, and nothing explains it so far; the difference is out of that range.
 */
export const driftFindings = [
  'explained',
  'unexplained_within_range',
  'too_many_to_tell',
  'books_moved',
  'out_of_range',
] as const;

/** One of {@link driftFindings}. */
export type DriftFinding = (typeof driftFindings)[number];

const runView = z
  .object({
    id: z.string(),
    at: z.string(),
    rail: z.string(),
    /** False if the rail was removed from the configuration and is no longer compared. */
    configured: z.boolean(),
    currency: z.string(),
    railBalance: z.string(),
    float: z.string(),
    drift: z.string(),
    /** Between which drifts the payments under way explain it. */
    lower: z.string(),
    upper: z.string(),
    withinRange: z.boolean(),
    finding: z.enum(driftFindings),
    /** The payments in flight that give exactly the drift. */
    explainedBy: z.array(z.string()).readonly(),
    /** How far it is out of the range, signed; within it, the least that no combination of payments gives, either way. */
    unexplained: z.string(),
    /** Since when no comparison has found it explained; null if the latest that could tell has. */
    unexplainedSince: z.string().nullable(),
    /** The payments that may explain it. */
    candidates: z.array(z.object({ reference: z.string(), why: z.string() })).readonly(),
    /** The drift of the wallet's newest comparisons, the newest first, where it was asked for and is not zero. */
    course: z
      .array(z.object({ at: z.string(), drift: z.string() }))
      .readonly()
      .optional(),
  })
  .meta({ id: 'Run' });

const moment = z.string().nullable();

const coverageView = z.object({
  kind: z.enum(['payout', 'collection']),
  /** When the newest audit was asked for. */
  askedAt: moment,
  /** When every open payment had last been compared with its gateway's record. */
  doneAt: moment,
  status: z.enum(['running', 'done']),
  /** How many payments are followed at present because their opening, their end or their record did not arrive. */
  missing: z.number(),
  ended: z.number(),
  behind: z.number(),
});

const oldestPayment = z.object({ state: z.string(), reference: z.string(), openedAt: z.string() });

/** A part that was not read in time is null and named in `unreported`. */
const statusView = z.object({
  /** When all of it was read, a few seconds ago at most. */
  at: z.string(),
  open: z
    .array(
      z.object({
        kind: z.enum(['payout', 'collection']),
        count: z.number(),
        /** The oldest of each state, the oldest of all first. */
        states: z.array(oldestPayment),
        /** Those that are open for longer than an hour: how many, and the oldest of them. */
        overdue: z.object({ count: z.number(), oldest: z.array(oldestPayment) }),
      }),
    )
    .nullable(),
  /** Rails that did not answer when they were last asked for their wallets, and since when. */
  silent: z.array(z.object({ rail: z.string(), since: z.string(), why: z.string() })).nullable(),
  polls: z
    .array(
      z.object({
        rail: z.string(),
        configured: z.boolean(),
        due: z.number(),
        overdue: z.number(),
        oldestDueAt: moment,
      }),
    )
    .nullable(),
  breaks: z.array(z.object({ kind: z.string(), count: z.number(), oldestAt: moment })).nullable(),
  /** The open breaks by currency: by how much they differ, either way, null if the sum is too large; of those in `unknown` nobody knows it. */
  breakSums: z
    .array(
      z.object({
        currency: z.string(),
        amount: z.string().nullable(),
        count: z.number(),
        unknown: z.number(),
        oldestAt: z.string(),
      }),
    )
    .nullable(),
  comparison: z
    .object({
      at: moment,
      wallets: z.number(),
      outOfRange: z.array(z.string()),
      /** Wallets within their range whose difference no payments are known to give, and since when. */
      unexplained: z.array(
        z.object({ wallet: z.string(), finding: z.enum(driftFindings), since: z.string().nullable() }),
      ),
      /** Wallets of rails that are no longer configured; the other fields leave them out. */
      removed: z.array(z.object({ wallet: z.string(), withinRange: z.boolean() })),
    })
    .nullable(),
  coverage: z.object({ at: moment, status: z.enum(['running', 'done']), found: z.number() }).nullable(),
  close: z
    .object({
      to: moment,
      finishedAt: moment,
      counts: z.record(z.string(), z.number()).nullable(),
      /** How many of its payments were reported only after the close had been made. */
      late: z.number(),
    })
    .nullable(),
  /** The payment of each rail that ended first of those that neither a close nor a statement has compared. */
  uncompared: z.array(z.object({ rail: z.string(), reference: z.string(), endedAt: z.string() })).nullable(),
  unreported: z.array(z.string()),
});

const timelineLine = z.object({
  at: z.string(),
  what: z.string(),
  detail: z.string(),
  times: z.number(),
  lastAt: z.string(),
  /** How many lines between the one before and this one were dropped. */
  notKept: z.number(),
});

const timelineView = z.object({
  reference: z.string(),
  kind: z.string().nullable(),
  rail: z.string().nullable(),
  merchantId: z.string().nullable(),
  currency: z.string().nullable(),
  amount: z.string().nullable(),
  status: z.string(),
  polls: z.number(),
  nextPollAt: z.string().nullable(),
  items: z.array(timelineLine),
  next: z.null(),
});

/** One comparison of a rail's wallet with our float; amounts are signed decimal text. */
export type WalletComparisonView = z.output<typeof runView>;

/** How far the payments of a kind are audited. */
export type CoverageView = z.output<typeof coverageView>;

/** The state of reconciliation. */
export type StatusView = z.output<typeof statusView>;

/** What the reconciler has seen of a payment. */
export type TimelineView = z.output<typeof timelineView>;

/** The reconciler's own view of everything. */
export const statusOperations = declareOperations({
  show: {
    method: 'get',
    path: '/status',
    summary: 'Shows what is open, due and broken, and the last comparison, audit and close',
    answers: { 200: statusView },
  },
});

/** What the reconciler has seen of single payments. */
export const timelineOperations = declareOperations({
  show: {
    method: 'get',
    path: '/timeline',
    summary: "Shows the reconciler's timeline of a payment",
    query: z.object({ reference }),
    answers: { 200: timelineView },
    refusals: { not_found: 404 },
  },
});

/** The comparison of the rails' wallets with our floats (ADR 28). */
export const comparisonOperations = declareOperations({
  drift: {
    method: 'get',
    path: '/drift',
    summary: 'Lists the latest comparison of every wallet',
    query: z.object({ courses: onlyIfTrue }),
    answers: { 200: pageOf(runView) },
  },
  runs: {
    method: 'get',
    path: '/runs',
    summary: 'Lists comparisons, newest first',
    query: z.object({
      rail: textUpTo(40).optional(),
      currency: textUpTo(3).optional(),
      cursor: textUpTo(240).optional(),
      limit: pageLimit(200, 50),
    }),
    answers: { 200: pageOf(runView) },
    pages: 'cursor',
  },
  compare: {
    method: 'post',
    path: '/compare',
    summary: 'Compares every wallet now',
    answers: { 200: pageOf(runView) },
    // It makes up to three attempts, and each waits for our own topics.
    timeoutMs: 120_000,
  },
});

/** Polls on demand. */
export const pollOperations = declareOperations({
  poll: {
    method: 'post',
    path: '/polls',
    summary: 'Brings the next poll of an open payment forward to now',
    body: strictFields({ reference }, (names) => `unknown: ${names.join(', ')}`),
    answers: { 202: z.object({ reference: z.string(), nextPollAt: moment }) },
    refusals: { not_found: 404, ended: 409 },
  },
});

/** The audit of the working set (ADR 27). */
export const coverageOperations = declareOperations({
  start: {
    method: 'post',
    path: '/coverage',
    summary: 'Starts an audit of all open payments',
    answers: { 202: z.object({ status: z.literal('running') }) },
  },
  show: {
    method: 'get',
    path: '/coverage',
    summary: 'Shows how far the payments of each kind are audited',
    answers: { 200: pageOf(coverageView) },
  },
});
