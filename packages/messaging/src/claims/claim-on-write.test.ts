import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOCK_SKEW_MAX_MS } from '../index.ts';
import type { Claimable } from './claim.ts';
import { type ClaimOptions, startClaimLoop } from './claim-loop.ts';

const LEASE_MS = 60_000;
const nothing = Promise.resolve<readonly Claimable[]>([]);
/** A collection whose every search has this result. */
const foundBy = (search: Promise<readonly Claimable[]>) => {
  const cursor: object = new Proxy(
    {},
    { get: (_, name) => (name === 'toArray' ? () => search : () => cursor) },
  );
  return cursor as Collection<Claimable>;
};
let running: AsyncDisposableStack;

beforeEach(() => {
  running = new AsyncDisposableStack();
});
afterEach(() => running.disposeAsync());

/** A loop that finds nothing due; its work ends when the test lets it. */
function start(options: Partial<ClaimOptions<Claimable>> = {}) {
  const begun: { readonly id: string; readonly claim: string; readonly claimedAtMs: number }[] = [];
  const gate = Promise.withResolvers<void>();
  const loop = running.use(
    startClaimLoop<Claimable>({
      name: 'test',
      collection: foundBy(nothing),
      open: {},
      leaseMs: LEASE_MS,
      workTimeoutMs: 1_000,
      batchMax: 10,
      concurrencyMax: 3,
      pauseMs: 60_000,
      clock: systemClock,
      ids: createIds(systemClock, systemRandom),
      logger: createLogger({ name: 'test', level: 'silent' }),
      work: async ({ _id: id }, claim, claimedAtMs) => {
        begun.push({ id, claim, claimedAtMs });
        await gate.promise;
      },
      ...options,
    }),
  );
  running.defer(gate.resolve);
  const ids = () => begun.map(({ id }) => id);
  return { ...loop, close: () => loop[Symbol.asyncDispose](), begun, ids, letEnd: gate.resolve };
}

/** A transaction in progress: it may run again, and ends with or without a commit. */
function transaction() {
  let actions: (() => void)[] = [];
  let rollbacks: (() => void)[] = [];
  const rollBack = () => {
    for (const action of rollbacks) action();
    actions = [];
    rollbacks = [];
  };
  return {
    afterCommit: (action: () => void) => void actions.push(action),
    afterRollback: (action: () => void) => void rollbacks.push(action),
    rerun: rollBack,
    commit: () => {
      for (const action of actions) action();
    },
    fail: async () => {
      rollBack();
      await new Promise(setImmediate);
    },
  };
}

type Loop = Pick<ReturnType<typeof start>, 'claimOnWrite'>;
type Transaction = Pick<ReturnType<typeof transaction>, 'afterCommit' | 'afterRollback'>;

/** Writes records with their claims; the first letter of an id is its key. Gives the ids of those that were granted. */
function claimAllOnWrite(
  loop: Loop,
  open: Transaction,
  ids: readonly string[],
  roomOf?: (key: string) => number,
) {
  const keys = ids.map((id) => id.slice(0, 1));
  const { granted, fields, begin } = loop.claimOnWrite(open, { keys, ...(roomOf && { roomOf }) });
  const claimed = ids.filter((_, index) => granted[index]);
  begin(claimed.map((_id) => ({ _id, ...fields })));
  return claimed;
}

describe('records that are claimed as they are written', () => {
  it('are worked on after the commit, by a lease from before the write', async () => {
    const loop = start();
    const open = transaction();
    const beforeMs = systemClock.nowMs();
    const { granted, fields, begin } = loop.claimOnWrite(open, { keys: ['a', 'a'] });
    const afterMs = systemClock.nowMs();
    expect(granted).toEqual([true, true]);
    begin([{ _id: 'a1', ...fields }]);
    expect(loop.begun).toEqual([]);
    open.commit();
    expect(loop.begun).toMatchObject([{ id: 'a1', claim: fields.claim }]);
    const claimedAtMs = loop.begun[0]?.claimedAtMs ?? 0;
    expect(claimedAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(claimedAtMs).toBeLessThanOrEqual(afterMs);
    // As long a lease by a database whose clock is ahead of ours.
    expect(fields.dueAt.getTime()).toBe(claimedAtMs + LEASE_MS + CLOCK_SKEW_MAX_MS);
  });

  it('are no more than there is room for, in all and under a key', async () => {
    const loop = start();
    const first = transaction();
    expect(claimAllOnWrite(loop, first, ['a1', 'a2', 'b1'], (key) => (key === 'a' ? 1 : 5))).toEqual([
      'a1',
      'b1',
    ]);
    first.commit();
    const second = transaction();
    expect(claimAllOnWrite(loop, second, ['a3', 'b2'])).toEqual(['a3']);
    second.commit();
    expect(claimAllOnWrite(loop, transaction(), ['b3'])).toEqual([]);
    expect(loop.ids()).toEqual(['a1', 'b1', 'a3']);
  });

  it('are none where the loop may not claim', async () => {
    expect(claimAllOnWrite(start({ mayClaim: () => false }), transaction(), ['a1'])).toEqual([]);
  });

  it('are worked on to the end by a loop that closes, which claims no more', async () => {
    const loop = start();
    const open = transaction();
    claimAllOnWrite(loop, open, ['a1']);
    let isClosed = false;
    const closed = loop.close().then(() => {
      isClosed = true;
    });
    open.commit();
    expect(claimAllOnWrite(loop, transaction(), ['a2'])).toEqual([]);
    await new Promise(setImmediate);
    expect(loop.ids()).toEqual(['a1']);
    expect(isClosed).toBe(false);
    loop.letEnd();
    await closed;
  });
});

describe('the room for records that a transaction writes', () => {
  it('is reserved until it ends, under a key too', async () => {
    const loop = start();
    const open = transaction();
    expect(claimAllOnWrite(loop, open, ['a1', 'b1'], () => 1)).toEqual(['a1', 'b1']);
    expect(claimAllOnWrite(loop, transaction(), ['a2', 'c1', 'c2'], () => 1)).toEqual(['c1']);
    expect(claimAllOnWrite(loop, transaction(), ['d1'])).toEqual([]);
  });

  it('is not what a search has found, which leaves it what is reserved', async () => {
    const search = Promise.withResolvers<readonly Claimable[]>();
    const written = Promise.withResolvers<never>();
    const updateMany = vi.fn<(due: object) => Promise<never>>(() => written.promise);
    const collection = Object.assign(Object.create(foundBy(search.promise)) as Collection<Claimable>, {
      updateMany,
    });
    const loop = start({ collection });
    const open = transaction();
    expect(claimAllOnWrite(loop, open, ['a1'])).toEqual(['a1']);
    search.resolve([{ _id: 'b1' }, { _id: 'b2' }, { _id: 'b3' }]);
    await new Promise(setImmediate);
    // Of three places one was reserved when three records were found.
    expect(updateMany.mock.calls[0]?.[0]).toMatchObject({ _id: { $in: ['b1', 'b2'] } });
    expect(claimAllOnWrite(loop, transaction(), ['a2'])).toEqual([]);
    written.reject(new Error('connection reset'));
  });

  it('is free after a transaction that failed, which begins nothing', async () => {
    const loop = start();
    const failing = transaction();
    claimAllOnWrite(loop, failing, ['a1', 'a2', 'a3']);
    expect(claimAllOnWrite(loop, transaction(), ['b1'])).toEqual([]);
    await failing.fail();
    expect(loop.begun).toEqual([]);
    expect(claimAllOnWrite(loop, transaction(), ['b1', 'b2', 'b3'])).toHaveLength(3);
  });

  it('is reserved once by a transaction that runs again', async () => {
    const loop = start();
    const open = transaction();
    for (let run = 0; run < 20; run += 1) {
      open.rerun();
      expect(claimAllOnWrite(loop, open, ['a1', 'a2'])).toEqual(['a1', 'a2']);
    }
    expect(claimAllOnWrite(loop, transaction(), ['b1', 'b2'])).toEqual(['b1']);
    open.commit();
    expect(loop.ids()).toEqual(['a1', 'a2']);
  });
});

describe('records that are claimed as they are written, within a rate limit', () => {
  const tokensAt = new Date('2026-05-01T08:00:00.000Z');
  /** A loop whose rate limit has so many tokens; what it gives up ends in `givenUp`. */
  function startLimited(tokens: number) {
    const takes: number[] = [];
    const givenUp: object[] = [];
    let left = tokens;
    const rateLimit = {
      take: async (wanted: number) => {
        takes.push(wanted);
        const count = Math.min(wanted, left);
        left -= count;
        return { count, at: tokensAt };
      },
      giveBack: async () => undefined,
      retryAfterMs: 10,
    };
    const collection = Object.assign(Object.create(foundBy(nothing)) as Collection<Claimable>, {
      updateMany: async (held: object) => void givenUp.push(held),
    });
    const claimed: [number, boolean][] = [];
    const loop = start({
      rateLimit,
      collection,
      claimed: (records, isRateLimited) => void claimed.push([records, isRateLimited]),
    });
    return { ...loop, takes, givenUp, claimed };
  }

  it('take no tokens while the transaction is open', async () => {
    const loop = startLimited(5);
    const open = transaction();
    expect(claimAllOnWrite(loop, open, ['a1', 'a2'])).toEqual(['a1', 'a2']);
    await new Promise(setImmediate);
    expect(loop.takes).toEqual([]);
    open.commit();
    await expect.poll(loop.ids).toEqual(['a1', 'a2']);
    expect(loop.takes).toEqual([2]);
  });

  it('are due again where there are no tokens, and go before newer ones', async () => {
    const loop = startLimited(1);
    await expect.poll(() => loop.claimed).toEqual([[0, false]]);
    const open = transaction();
    claimAllOnWrite(loop, open, ['a1', 'a2']);
    open.commit();
    await expect.poll(() => loop.givenUp).toMatchObject([{ _id: { $in: ['a2'] } }]);
    expect(loop.ids()).toEqual(['a1']);
    expect(loop.claimed.at(-1)).toEqual([1, true]);
    expect(claimAllOnWrite(loop, transaction(), ['a3'])).toEqual([]);
  });

  it('have the time of their tokens, by the database’s clock', async () => {
    const stamped: unknown[] = [];
    const rateLimit = {
      take: async (wanted: number) => ({ count: wanted, at: tokensAt }),
      giveBack: async () => undefined,
      retryAfterMs: 10,
    };
    const loop = start({
      rateLimit,
      claimTimeField: 'dueAt',
      work: async ({ dueAt }) => void stamped.push(dueAt),
    });
    const open = transaction();
    claimAllOnWrite(loop, open, ['a1']);
    open.commit();
    await expect.poll(() => stamped).toEqual([tokensAt]);
  });
});
