import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { openStates } from '../domain/tracked.ts';
import { gaugeStanding, type StandingDeps } from './metrics.ts';

const at = (secondsAgo: number) => new Date(1_000_000 - secondsAgo * 1_000);
const run = {
  _id: 'rn-1',
  at: at(30),
  rail: 'upstream',
  currency: 'GHS',
  railBalance: 99n,
  float: 100n,
  ordered: 100n,
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
let registry: Registry;
let looks: string[];

beforeEach(() => {
  registry = new Registry();
  looks = [];
});

function gauge(change: Partial<StandingDeps> = {}): void {
  gaugeStanding({
    registry,
    rails: ['upstream'],
    clock: { nowMs: () => 1_000_000, sleep: () => new Promise(() => undefined) },
    statusStore: {
      oldestOpen: async () => [{ kind: 'payout', state: 'begun', reference: 'po-1', openedAt: at(90) }],
    },
    payments: {
      oldestUncompared: async () => [{ rail: 'gone', reference: 'po-2', endedAt: at(80) }],
    },
    breaks: {
      countOpen: async () => {
        looks.push('breaks');
        return new Map([['payment.stuck', { count: 3, since: at(60) }]]);
      },
    },
    wallets: {
      wallets: async () => {
        looks.push('wallets');
        const wallet = { _id: 'upstream:GHS', rail: 'upstream', currency: 'GHS', latest: run, lastOut: run };
        return [wallet, { ...wallet, _id: 'gone:GHS', rail: 'gone' }];
      },
    },
    ...change,
  });
}

const samples = async () => (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line));

it('exports what waits and since when, with one read for all gauges of a scrape', async () => {
  gauge();
  expect(await samples()).toEqual([
    'oldest_open_payment_seconds{kind="payout",state="begun"} 90',
    ...['accepted', 'refused', 'not_found'].map(
      (state) => `oldest_open_payment_seconds{kind="payout",state="${state}"} 0`,
    ),
    ...openStates.map((state) => `oldest_open_payment_seconds{kind="collection",state="${state}"} 0`),
    'oldest_uncompared_payment_seconds{rail="upstream"} 0',
    'oldest_uncompared_payment_seconds{rail="gone"} 80',
    'open_breaks{kind="payment.stuck"} 3',
    'oldest_open_break_seconds{kind="payment.stuck"} 60',
    'rail_wallet_drift_minor_units{rail="upstream",currency="GHS"} -1',
    'rail_wallet_unexplained_minor_units{rail="upstream",currency="GHS"} -1',
    'rail_wallet_comparison_age_seconds{rail="upstream",currency="GHS"} 30',
  ]);
  expect(looks).toEqual(['breaks', 'wallets']);
  await samples();
  expect(looks).toHaveLength(4);
});

it('exports an unexplained difference within range once there is a break about it', async () => {
  const latest = { ...run, withinRange: true };
  const wallet = { _id: 'upstream:GHS', rail: 'upstream', currency: 'GHS', latest };
  const found = async () =>
    (await samples()).filter((line) => line.startsWith('rail_wallet_unexplained')).join();
  gauge({ wallets: { wallets: async () => [wallet] } });
  expect(await found()).toMatch(/ 0$/);
  registry.clear();
  gauge({ wallets: { wallets: async () => [{ ...wallet, lastOut: latest }] } });
  expect(await found()).toMatch(/ -1$/);
  registry.clear();
  // A comparison that can't tell closes no break; one that explains the wallet does.
  const untold = { ...latest, finding: 'too_many_to_tell' as const, unexplained: 0n, at: at(10) };
  gauge({ wallets: { wallets: async () => [{ ...wallet, latest: untold, lastOut: run }] } });
  expect(await found()).toMatch(/ -1$/);
  registry.clear();
  const { unexplainedSince: _, ...explained } = { ...untold, finding: 'explained' as const };
  gauge({ wallets: { wallets: async () => [{ ...wallet, latest: explained, lastOut: run }] } });
  expect(await found()).toMatch(/ 0$/);
});

it('exports the rest if the database does not answer for a part', async () => {
  gauge({
    breaks: { countOpen: () => Promise.reject(new Error('no primary')) },
    statusStore: { oldestOpen: () => new Promise(() => undefined) },
    payments: { oldestUncompared: () => Promise.reject(new Error('no primary')) },
    clock: { nowMs: () => 1_000_000, sleep: async () => undefined },
    wallets: { wallets: async () => [] },
  });
  expect(await samples()).toEqual([]);
});
