import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { openStates } from '../domain/tracked.ts';
import { gaugeStanding } from './metrics.ts';
import type { Standing } from './standing.ts';

const at = (secondsAgo: number) => new Date(1_000_000 - secondsAgo * 1_000);
const run = {
  _id: 'rn-1',
  at: at(30),
  rail: 'upstream',
  currency: 'GHS',
  railBalance: 99n,
  float: 100n,
  lower: 100n,
  upper: 100n,
  drift: -1n,
  withinRange: false,
  finding: 'out_of_range' as const,
  explainedBy: [],
  unexplained: -1n,
  unexplainedSince: at(30),
  candidates: [],
};
const wallet = { _id: 'upstream:GHS', rail: 'upstream', currency: 'GHS', latest: run };
const none = { count: 0, oldest: [] };
const done = { askedAt: null, status: 'done', missing: 0, ended: 0, behind: 0 } as const;
const found: Standing = {
  at: at(0),
  open: { payout: 7, collection: 0 },
  oldestOpen: [
    { kind: 'payout', states: [{ state: 'begun', reference: 'po-1', openedAt: at(90) }], overdue: none },
    { kind: 'collection', states: [], overdue: none },
  ],
  silent: [],
  polls: [
    { rail: 'gone', dueAt: at(20), due: 1, overdue: 0 },
    { rail: 'upstream', dueAt: at(40), due: 1, overdue: 0 },
  ],
  breaks: [
    { kind: 'payment.stuck', currency: 'KES', count: 2, unknown: 0, amount: 1n, since: at(50) },
    { kind: 'payment.stuck', currency: null, count: 1, unknown: 1, amount: 0n, since: at(60) },
  ],
  comparison: [
    { ...wallet, lastOut: run },
    { ...wallet, _id: 'gone:GHS', rail: 'gone' },
  ],
  coverage: [
    { ...done, kind: 'payout', doneAt: at(70).toISOString() },
    { ...done, kind: 'collection', doneAt: null },
  ],
  followed: [{ step: 'hold', kind: 'payout', count: 1, since: at(10) }],
  awaitingLedger: 3,
  close: undefined,
  uncompared: [{ rail: 'gone', reference: 'po-2', endedAt: at(80) }],
  unreported: [],
};
let registry: Registry;

beforeEach(() => {
  registry = new Registry();
});

function gauge(change: Partial<Standing> = {}): void {
  const standing = async () => ({ ...found, ...change });
  gaugeStanding(registry, standing, ['upstream', 'idle'], { nowMs: () => 1_000_000 });
}

const samples = async () => (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line));

it('exports what waits and since when', async () => {
  gauge();
  expect(await samples()).toEqual([
    'open_payments{kind="payout"} 7',
    'open_payments{kind="collection"} 0',
    'oldest_open_payment_seconds{kind="payout",state="begun"} 90',
    ...['acknowledged', 'refused', 'not_found'].map(
      (state) => `oldest_open_payment_seconds{kind="payout",state="${state}"} 0`,
    ),
    ...openStates.map((state) => `oldest_open_payment_seconds{kind="collection",state="${state}"} 0`),
    'oldest_due_seconds{rail="upstream"} 40',
    'oldest_due_seconds{rail="idle"} 0',
    'oldest_uncompared_payment_seconds{rail="upstream"} 0',
    'oldest_uncompared_payment_seconds{rail="idle"} 0',
    'oldest_uncompared_payment_seconds{rail="gone"} 80',
    'open_breaks{kind="payment.stuck"} 3',
    'oldest_open_break_seconds{kind="payment.stuck"} 60',
    'rail_wallet_drift_minor_units{rail="upstream",currency="GHS"} -1',
    'rail_wallet_unexplained_minor_units{rail="upstream",currency="GHS"} -1',
    'rail_wallet_comparison_age_seconds{rail="upstream",currency="GHS"} 30',
    'payments_awaiting_ledger 3',
    'oldest_overdue_step_seconds{step="hold",kind="payout"} 10',
    'last_audit_age_seconds{kind="payout"} 70',
    'last_audit_age_seconds{kind="collection"} 0',
  ]);
});

it('exports an unexplained difference within range once there is a break about it', async () => {
  const latest = { ...run, withinRange: true };
  const unexplained = async () =>
    (await samples()).filter((line) => line.startsWith('rail_wallet_unexplained')).join();
  gauge({ comparison: [{ ...wallet, latest }] });
  expect(await unexplained()).toMatch(/ 0$/);
  registry.clear();
  gauge({ comparison: [{ ...wallet, latest, lastOut: latest }] });
  expect(await unexplained()).toMatch(/ -1$/);
  registry.clear();
  // A comparison that can't tell closes no break; one that explains the wallet does.
  const untold = { ...latest, finding: 'too_many_to_tell' as const, unexplained: 0n, at: at(10) };
  gauge({ comparison: [{ ...wallet, latest: untold, lastOut: run }] });
  expect(await unexplained()).toMatch(/ -1$/);
  registry.clear();
  const { unexplainedSince: _, ...explained } = { ...untold, finding: 'explained' as const };
  gauge({ comparison: [{ ...wallet, latest: explained, lastOut: run }] });
  expect(await unexplained()).toMatch(/ 0$/);
});

it('exports the rest if the database does not answer for a part', async () => {
  const steps = { coverage: null, followed: null, awaitingLedger: null };
  gauge({ breaks: null, oldestOpen: null, polls: null, uncompared: null, comparison: null, ...steps });
  expect(await samples()).toEqual(['open_payments{kind="payout"} 7', 'open_payments{kind="collection"} 0']);
});
