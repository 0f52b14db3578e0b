import { beforeEach, describe, expect, it } from 'vitest';
import { float, walletsInMemory } from '../fixtures/wallets.ts';

let world: ReturnType<typeof walletsInMemory>;

beforeEach(() => {
  world = walletsInMemory();
});

describe('a difference within the range of payments in flight', () => {
  const payments = [100n, 200n].map((mayDebit) => ({ reference: `po-${mayDebit}`, mayDebit, mayCredit: 0n }));
  const open = { mayDebit: 300n, mayCredit: 0n, payments };
  const has = (minor: bigint) => {
    world.balances = [{ currency: 'GHS', minor }];
  };
  const run = async () => (await world.replica().run())[0];

  beforeEach(() => {
    world.floats = new Map([['GHS', float(1_000n)]]);
    world.inFlight = new Map([['GHS', open]]);
  });

  it('that some of them give is explained, and is no break', async () => {
    has(900n);
    expect(await run()).toMatchObject({ finding: 'explained', explainedBy: ['po-100'] });
    expect(world.statuses()).toEqual([]);
    expect(world.wallets.get('upstream:GHS')?.latest).not.toHaveProperty('unexplainedSince');
  });

  it('that none of them gives has its age, and is a break after a time, until it is explained', async () => {
    has(960n);
    const first = await run();
    expect(first).toMatchObject({ finding: 'unexplained_within_range', unexplained: 40n });
    expect(world.statuses()).toEqual([]);
    world.nowMs += 50_000;
    expect((await run())?.unexplainedSince).toEqual(first?.at);
    expect(world.statuses()).toEqual([]);
    world.nowMs += 10_000;
    await run();
    const id = 'upstream:GHS/balance';
    expect(world.breaks.get(id)).toMatchObject({ status: 'open', kind: 'wallet.drift', amount: null });
    has(900n);
    expect(await run()).not.toHaveProperty('unexplainedSince');
    expect(world.breaks.get(id)).toMatchObject({ status: 'resolved' });
    has(960n);
    await run();
    expect(world.breaks.get(id)).toMatchObject({ status: 'resolved' });
  });

  it('is not explained by comparisons that can not tell, and those open no break', async () => {
    has(960n);
    await run();
    world.inFlight = new Map([['GHS', { mayDebit: 300n, mayCredit: 0n }]]);
    world.nowMs += 60_000;
    expect(await run()).toMatchObject({ finding: 'too_many_to_tell' });
    expect(world.statuses()).toEqual([]);
    world.inFlight = new Map([['GHS', open]]);
    await run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance open']);
    world.inFlight = new Map([['GHS', { mayDebit: 300n, mayCredit: 0n }]]);
    await run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance open']);
  });

  it('keeps the break of a wallet that was out of range, and is still not explained', async () => {
    has(600n);
    await run();
    has(750n);
    await run();
    expect(world.breaks.get('upstream:GHS/balance')).toMatchObject({ status: 'open', amount: null });
    has(800n);
    await run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance resolved']);
  });

  it('does not close the break of a wallet that was out of range, where it can not be told', async () => {
    has(600n);
    await run();
    world.inFlight = new Map([['GHS', { mayDebit: 500n, mayCredit: 0n }]]);
    expect(await run()).toMatchObject({ finding: 'too_many_to_tell' });
    expect(world.breaks.get('upstream:GHS/balance')).toMatchObject({ status: 'open', amount: -100n });
    world.inFlight = new Map([['GHS', open]]);
    has(800n);
    await run();
    expect(world.statuses()).toEqual(['upstream:GHS/balance resolved']);
  });

  it('is looked at again where a payment was posted meanwhile, and has its age if each look is like that', async () => {
    has(960n);
    const posts = { left: 1 };
    world.duringAnswer = () => {
      if (posts.left-- > 0)
        world.floats = new Map([['GHS', float((world.floats.get('GHS')?.credits ?? 0n) + 5n)]]);
    };
    expect(await run()).toMatchObject({ finding: 'unexplained_within_range', unexplained: 45n });
    expect(world.slept).toBe(10);
    posts.left = 3;
    const moved = await run();
    expect(moved).toMatchObject({ finding: 'books_moved', unexplained: 0n });
    expect(moved?.unexplainedSince).toEqual(world.runs[0]?.at);
    expect(world.slept).toBe(30);
  });

  it('is stored as it was found first if the rail answers no second time', async () => {
    has(960n);
    world.duringAnswer = () => {
      world.floats = new Map([['GHS', float(1_000n + BigInt(world.slept))]]);
      if (world.slept > 0) world.balances = null;
      else world.floats = new Map([['GHS', float(1_005n)]]);
    };
    expect(await run()).toMatchObject({ finding: 'books_moved', railBalance: 960n });
  });

  it('names who could explain the drift, or what is left beside payments in flight', async () => {
    has(860n);
    const collected = {
      reference: 'co-1',
      kind: 'collection',
      status: 'completed',
      amount: 40n,
      railFee: 0n,
    } as const;
    world.ended = [collected];
    expect(await run()).toMatchObject({ unexplained: 40n, candidates: [{ reference: 'co-1' }] });
  });
});
