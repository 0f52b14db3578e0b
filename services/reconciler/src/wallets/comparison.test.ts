import type { Money } from '@pesewa/kernel';
import { idOf, type OutgoingEvent } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Break } from '../domain/break.ts';
import type { Suspect } from '../domain/candidates.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { type ComparisonDeps, createComparison } from './comparison.ts';
import type { Float, RunDocument, WalletDocument } from './store.ts';

let floats: Map<string, Float>;
let balances: readonly Money[] | null;
let suspects: readonly Suspect[];
let isCaughtUp: boolean;
let nowMs: number;
let emitted: OutgoingEvent[];
let broken: ReturnType<typeof breaksInMemory>;
let breaks: Map<string, Break>;
let wallets: Map<string, WalletDocument>;
let runs: RunDocument[];
let slept: number;
let suspicions: RunDocument[];
/** The content of each outbox, one answer after another; then empty. */
let outboxes: (readonly string[] | undefined)[];
/** The questions about our own services and topics. */
let waitedFor: (readonly string[])[];

beforeEach(() => {
  floats = new Map();
  balances = [];
  suspects = [];
  isCaughtUp = true;
  nowMs = 1_000;
  emitted = [];
  broken = breaksInMemory();
  breaks = broken.kept;
  wallets = new Map();
  runs = [];
  slept = 0;
  suspicions = [];
  outboxes = [];
  waitedFor = [];
});

const float = (minor: bigint, ordered = minor): Float => ({ credits: minor, debits: 0n, ordered });

/** One replica; all of them share what is stored. */
function replica(change: Partial<ComparisonDeps> = {}) {
  let ids = 0;
  return createComparison({
    wallets: {
      move: async () => undefined,
      floats: async () => new Map(floats),
      wallets: async () => [...wallets.values()],
      recordRuns: async (recorded) => void runs.push(...recorded),
      saveWallets: async (saved) => {
        for (const wallet of saved) wallets.set(wallet._id, wallet);
      },
      suspect: async (found) => void suspicions.push(...found),
      listRuns: async () => ({ items: [], next: null }),
    },
    onItsWay: {
      waiting: async (of) => {
        waitedFor.push(of);
        const outboxRecords = outboxes.length === 0 ? [] : outboxes.shift();
        return outboxRecords && [{ of: 'ingress', outboxRecords }];
      },
      hasLeft: async (waiting) => {
        if (waiting.every(({ outboxRecords }) => outboxRecords.length === 0)) return true;
        const left = outboxes.length === 0 ? [] : outboxes.shift();
        return left && !waiting.some(({ outboxRecords }) => outboxRecords.some((id) => left.includes(id)));
      },
    },
    payments: { inFlight: async () => new Map(), suspects: async () => suspects },
    breaks: {
      list: async () => ({ items: [...breaks.values()], next: null }),
      ...broken.store,
    },
    messaging: {
      groupCommit: (_, apply) => ({
        submit: async (item) => {
          const transaction = { session: undefined, emit: (one: OutgoingEvent) => emitted.push(one) };
          const [outcome] = await apply([item], transaction as never, false);
          return outcome as never;
        },
      }),
      caughtUp: async (topics) => {
        waitedFor.push(topics);
        return isCaughtUp;
      },
    },
    rails: [
      {
        name: 'upstream',
        balances: async () =>
          balances === null ? { kind: 'unknown', why: 'down' } : { kind: 'answered', wallets: balances },
      },
    ],
    pauseMs: 10,
    clock: {
      nowMs: () => {
        nowMs += 1;
        return nowMs;
      },
      sleep: async (durationMs) => {
        slept += durationMs;
      },
    },
    ids: { next: (prefix) => `${prefix}-${(ids += 1)}` },
    logger: createLogger({ name: 'test', level: 'silent' }),
    ...change,
  });
}

const statuses = () => [...breaks.values()].map(({ _id, status }) => `${_id} ${status}`);

describe('the comparison of wallets with floats', () => {
  it('compares every currency that the rail or our books name, funded or not', async () => {
    floats = new Map([
      ['GHS', float(100n)],
      ['NGN', float(70n, 0n)],
    ]);
    balances = [
      { currency: 'GHS', minor: 60n },
      { currency: 'GHS', minor: 40n },
      { currency: 'KES', minor: 5n },
      { currency: 'ZAR', minor: 0n },
    ];
    const found = await replica().run();
    expect(found.map(({ currency, drift }) => [currency, drift])).toEqual([
      ['GHS', 0n],
      ['KES', 5n],
      ['NGN', -70n],
      ['ZAR', 0n],
    ]);
    expect(statuses()).toEqual(['upstream:KES/balance open', 'upstream:NGN/balance open']);
  });

  it.each([1n, -1n])(
    'opens one break for %s, however often it is found, and closes it with its cause',
    async (by) => {
      floats = new Map([['GHS', float(100n)]]);
      balances = [{ currency: 'GHS', minor: 100n + by }];
      await replica().run();
      await Promise.all([replica().run(), replica().run()]);
      expect(breaks.get('upstream:GHS/balance')).toMatchObject({ status: 'open', amount: by });
      balances = [{ currency: 'GHS', minor: 100n }];
      await replica().run();
      await replica().run();
      expect(breaks.get('upstream:GHS/balance')).toMatchObject({
        status: 'resolved',
        resolution: expect.stringContaining("the rail's balance moved by") as unknown,
      });
      const eventsOf = (type: string) =>
        emitted.filter((one) => one.type === `pesewa.reconciliation.${type}`);
      const measurements = new Set(eventsOf('DriftMeasured').map(idOf));
      for (const type of ['BreakOpened', 'BreakResolved']) {
        expect(eventsOf(type)).toHaveLength(1);
        expect(measurements).toContain(eventsOf(type)[0]?.causationId);
      }
      expect(runs).toHaveLength(5);
    },
  );

  it('opens the same break again when the wallet leaves its range again', async () => {
    balances = [{ currency: 'GHS', minor: 1n }];
    await replica().run();
    balances = [];
    await replica().run();
    expect(statuses()).toEqual(['upstream:GHS/balance resolved']);
    balances = [{ currency: 'GHS', minor: 2n }];
    await replica().run();
    expect(statuses()).toEqual(['upstream:GHS/balance open']);
  });

  it('uses the look that began last, whichever is stored first', async () => {
    balances = [{ currency: 'GHS', minor: 1n }];
    const looked = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow = replica({
      payments: {
        inFlight: async () => new Map(),
        suspects: async () => {
          reached.resolve();
          await looked.promise;
          return [];
        },
      },
    }).run();
    await reached.promise;
    balances = [{ currency: 'GHS', minor: 0n }];
    await replica().run();
    looked.resolve();
    await slow;
    expect(statuses()).toEqual([]);
    expect(runs).toHaveLength(2);
    expect(wallets.get('upstream:GHS')?.latest.drift).toBe(0n);
  });

  it('looks again before a drift counts, and names who could explain it', async () => {
    balances = [{ currency: 'GHS', minor: -10_050n }];
    suspects = [{ reference: 'po-1', kind: 'payout', status: 'failed', amount: 10_000n, railFee: 50n }];
    const [run] = await replica().run();
    expect(slept).toBe(20);
    expect(run?.candidates).toMatchObject([{ reference: 'po-1' }]);
  });

  it.each<[string, () => void]>([
    [
      'one of our services has events that it has not published yet',
      () => void outboxes.push(['b'], ...Array.from({ length: 100_000 }, () => ['b'])),
    ],
    ['an outbox can not be asked', () => void outboxes.push(undefined)],
    ['an outbox can not be asked again', () => void outboxes.push(['b'], undefined)],
  ])('makes nothing of a drift while %s, but that it is suspected', async (_, happens) => {
    floats = new Map([['KES', float(100n)]]);
    balances = [
      { currency: 'KES', minor: 100n },
      { currency: 'GHS', minor: 1n },
    ];
    happens();
    expect(await replica().run()).toMatchObject([{ currency: 'KES', withinRange: true }]);
    expect(runs.map(({ currency }) => currency)).toEqual(['KES']);
    expect(suspicions).toMatchObject([{ currency: 'GHS', unexplained: 1n }]);
    expect(statuses()).toEqual([]);
    outboxes = [];
    await replica().run();
    expect(statuses()).toEqual(['upstream:GHS/balance open']);
  });

  it('uses our books as they are once all waiting messages have come', async () => {
    balances = [{ currency: 'GHS', minor: 50n }];
    outboxes = [['b'], ['b'], ['c']];
    const comparison = replica({
      payments: {
        inFlight: async () =>
          new Map(outboxes.length === 0 ? [['GHS', { mayDebit: 0n, mayCredit: 50n }]] : []),
        suspects: async () => suspects,
      },
    });
    expect(await comparison.run()).toMatchObject([{ currency: 'GHS', withinRange: true, upper: 50n }]);
    expect(statuses()).toEqual([]);
    expect(suspicions).toEqual([]);
    // After each answer of the rail, and then for callbacks, collections and orders.
    const own = ['payouts', 'collections', 'ledger'];
    expect(waitedFor).toEqual([
      own,
      own,
      own,
      ['ingress', 'collections', 'ledger'],
      [...own, 'railCallbacks'],
    ]);
  });

  it('asks no outbox while every wallet is within range', async () => {
    outboxes = [undefined];
    await replica().run();
    expect(outboxes).toHaveLength(1);
  });

  it.each([
    ['the rail does not answer', () => void (balances = null)],
    ['our projections lag behind the topics', () => void (isCaughtUp = false)],
  ])('compares nothing where %s', async (_, happens) => {
    floats = new Map([['GHS', float(100n)]]);
    happens();
    expect(await replica().run()).toEqual([]);
    expect(runs).toEqual([]);
  });
});
