import { idOf } from '@pesewa/messaging';
import { beforeEach, describe, expect, it } from 'vitest';
import { float, walletsInMemory } from '../fixtures/wallets.ts';

let world: ReturnType<typeof walletsInMemory>;

beforeEach(() => {
  world = walletsInMemory();
});

describe('the comparison of wallets with floats', () => {
  it('compares every currency that the rail or our books name, funded or not', async () => {
    world.floats = new Map([
      ['GHS', float(100n)],
      ['NGN', float(70n)],
    ]);
    world.balances = [
      { currency: 'GHS', minor: 60n },
      { currency: 'GHS', minor: 40n },
      { currency: 'KES', minor: 5n },
      { currency: 'ZAR', minor: 0n },
    ];
    const found = await world.replica().run();
    expect(found.map(({ currency, drift }) => [currency, drift])).toEqual([
      ['GHS', 0n],
      ['KES', 5n],
      ['NGN', -70n],
      ['ZAR', 0n],
    ]);
    expect(world.statuses()).toEqual(['upstream:KES/balance open', 'upstream:NGN/balance open']);
  });

  it.each([1n, -1n])(
    'opens one break for %s, however often it is found, and closes it with its cause',
    async (by) => {
      world.floats = new Map([['GHS', float(100n)]]);
      world.balances = [{ currency: 'GHS', minor: 100n + by }];
      await world.replica().run();
      await Promise.all([world.replica().run(), world.replica().run()]);
      expect(world.breaks.get('upstream:GHS/balance')).toMatchObject({ status: 'open', amount: by });
      world.balances = [{ currency: 'GHS', minor: 100n }];
      await world.replica().run();
      await world.replica().run();
      expect(world.breaks.get('upstream:GHS/balance')).toMatchObject({
        status: 'resolved',
        resolution: expect.stringContaining('the wallet is explained again') as unknown,
      });
      const eventsOf = (type: string) =>
        world.emitted.filter((one) => one.type === `pesewa.reconciliation.${type}`);
      const measurements = new Set(eventsOf('DriftMeasured').map(idOf));
      for (const type of ['BreakOpened', 'BreakResolved']) {
        expect(eventsOf(type)).toHaveLength(1);
        expect(measurements).toContain(eventsOf(type)[0]?.causationId);
      }
      expect(world.runs).toHaveLength(5);
    },
  );

  it('opens the same break again when the wallet leaves its range again', async () => {
    world.balances = [{ currency: 'GHS', minor: 1n }];
    await world.replica().run();
    world.balances = [];
    await world.replica().run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance resolved']);
    world.balances = [{ currency: 'GHS', minor: 2n }];
    await world.replica().run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance open']);
  });

  it('uses the look that began last, whichever is stored first', async () => {
    world.balances = [{ currency: 'GHS', minor: 1n }];
    const looked = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const slow = world
      .replica({
        payments: {
          inFlight: async () => new Map(),
          ended: async () => {
            reached.resolve();
            await looked.promise;
            return [];
          },
        },
      })
      .run();
    await reached.promise;
    world.balances = [{ currency: 'GHS', minor: 0n }];
    await world.replica().run();
    looked.resolve();
    await slow;
    expect(world.statuses()).toEqual([]);
    expect(world.runs).toHaveLength(2);
    expect(world.wallets.get('upstream:GHS')?.latest.drift).toBe(0n);
  });

  it('looks again before a drift counts, and names who could explain it', async () => {
    world.balances = [{ currency: 'GHS', minor: -10_050n }];
    world.ended = [{ reference: 'po-1', kind: 'payout', status: 'failed', amount: 10_000n, railFee: 50n }];
    const [run] = await world.replica().run();
    expect(world.slept).toBe(20);
    expect(run?.candidates).toMatchObject([{ reference: 'po-1' }]);
  });

  it.each<[string, () => void]>([
    [
      'one of our services has events that it has not published yet',
      () => void world.outboxes.push(['b'], ...Array.from({ length: 100_000 }, () => ['b'])),
    ],
    ['an outbox can not be asked', () => void world.outboxes.push(undefined)],
    ['an outbox can not be asked again', () => void world.outboxes.push(['b'], undefined)],
  ])('makes nothing of a drift while %s', async (_, happens) => {
    world.floats = new Map([['KES', float(100n)]]);
    world.balances = [
      { currency: 'KES', minor: 100n },
      { currency: 'GHS', minor: 1n },
    ];
    happens();
    expect(await world.replica().run()).toMatchObject([{ currency: 'KES', withinRange: true }]);
    expect(world.runs.map(({ currency }) => currency)).toEqual(['KES']);
    expect(world.statuses()).toEqual([]);
    world.outboxes = [];
    await world.replica().run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance open']);
  });

  it('uses our books as they are once all waiting messages have come', async () => {
    world.balances = [{ currency: 'GHS', minor: 50n }];
    world.outboxes = [['b'], ['b'], ['c']];
    const comparison = world.replica({
      payments: {
        inFlight: async () =>
          new Map(world.outboxes.length === 0 ? [['GHS', { mayDebit: 0n, mayCredit: 50n }]] : []),
        ended: async () => world.ended,
      },
    });
    expect(await comparison.run()).toMatchObject([{ currency: 'GHS', withinRange: true, upper: 50n }]);
    expect(world.statuses()).toEqual([]);
    // After each answer of the rail, and then for callbacks, collections and orders.
    const own = ['payouts', 'collections', 'ledger'];
    expect(world.waitedFor).toEqual([
      own,
      own,
      own,
      ['ingress'],
      ['collections'],
      ['ledger'],
      [...own, 'railCallbacks'],
    ]);
  });

  it('is made once for all who ask at the same time, and anew for who asks later', async () => {
    world.balances = [{ currency: 'GHS', minor: 0n }];
    const replica = world.replica();
    const [one, other] = await Promise.all([replica.run(), replica.run()]);
    expect(other).toBe(one);
    expect(world.runs).toHaveLength(1);
    const running = replica.run();
    await Promise.resolve();
    // It has begun, and may have asked its rails already.
    world.balances = [{ currency: 'GHS', minor: 5n }];
    const asked = await Promise.all([replica.run(), replica.run()]);
    expect(asked[1]).toBe(asked[0]);
    expect(asked[0]).not.toBe(await running);
    expect(world.runs.map(({ drift }) => drift).at(-1)).toBe(5n);
    expect(world.runs).toHaveLength(3);
  });

  it('searches a week at most for who could explain a drift', async () => {
    const DAY_MS = 86_400_000;
    const searched: number[] = [];
    const replica = world.replica({
      payments: {
        inFlight: async () => new Map(),
        ended: async (_rail, _currency, from) => {
          searched.push((world.nowMs - from.getTime()) / DAY_MS);
          return [];
        },
      },
    });
    world.balances = [{ currency: 'GHS', minor: 1n }];
    await replica.run();
    world.nowMs += 30 * DAY_MS;
    await replica.run();
    expect(searched.map(Math.round)).toEqual([1, 7]);
  });

  it('asks no outbox while every wallet is within range', async () => {
    world.outboxes = [undefined];
    await world.replica().run();
    expect(world.outboxes).toHaveLength(1);
  });

  it.each([
    ['the rail does not answer', () => void (world.balances = null)],
    ['our projections lag behind the topics', () => void (world.isCaughtUp = false)],
  ])('compares nothing where %s', async (_, happens) => {
    world.floats = new Map([['GHS', float(100n)]]);
    happens();
    expect(await world.replica().run()).toEqual([]);
    expect(world.runs).toEqual([]);
  });
});
