import { DAY_MS } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { openGatewayRecords } from './gateway-records.ts';
import { watchOpen, watchWebhooks } from './watches.ts';

const to = new Date(400 * DAY_MS);

interface Row {
  readonly _id: string;
  readonly status: string;
  readonly openedAt: Date;
  readonly endedAt: Date;
  readonly terms: { readonly kind: string };
}

const LIMIT_MS = 60_000;

/** A cursor that gives these. */
const cursor = (found: readonly object[]) => {
  const chain = { project: () => chain, sort: () => chain, limit: () => chain, toArray: async () => found };
  return chain;
};

interface Asked {
  readonly _id?: { readonly $in: readonly string[] };
  readonly $and?: readonly [object, { readonly endedAt: { readonly $gte: Date } | Date }];
}

/** Collections that answer the search for webhooks: the payments that have ended, and the existing webhooks. */
function openWatch(rows: readonly Row[], webhooks: readonly string[]) {
  const polls = {
    find: ({ _id, $and }: Asked) => {
      if (_id) return cursor(rows.filter((row) => _id.$in.includes(row._id)));
      const endedAt = $and?.[1].endedAt ?? to;
      return cursor('$gte' in endedAt ? rows.filter((row) => row.endedAt >= endedAt.$gte) : []);
    },
  };
  const deliveries = {
    find: ({ _id }: Asked) =>
      cursor(webhooks.filter((id) => _id?.$in.includes(id)).map((id) => ({ _id: id }))),
  };
  const { looks, judge } = watchWebhooks(deliveries as never, polls as never, LIMIT_MS);
  return async (from: Date) => {
    const found: string[] = [];
    for await (const { references } of looks['webhook']?.(from, to) ?? [])
      found.push(...(await judge(references)).map((one) => one.reference));
    return found;
  };
}

const ended = (_id: string, daysAgo: number, status = 'completed', daysLong = 0): Row => {
  const endedAtMs = to.getTime() - daysAgo * DAY_MS;
  const openedAt = new Date(endedAtMs - daysLong * DAY_MS);
  return { _id, status, openedAt, endedAt: new Date(endedAtMs), terms: { kind: 'payout' } };
};

it("a webhook is missed only while it can't have been deleted, however far back the look goes", async () => {
  const look = openWatch([ended('po-new', 1), ended('po-old', 16)], []);
  expect(await look(new Date(0))).toEqual(['po-new']);
  expect(await look(new Date(to.getTime() - 2 * DAY_MS))).toEqual(['po-new']);
});

it('a late reversal owes its own webhook, an early one that of the completion as well', async () => {
  const rows = [ended('po-early', 1, 'reversed', 3), ended('po-late', 1, 'reversed', 200)];
  expect(await openWatch(rows, ['po-early-reversed', 'po-late-reversed'])(new Date(0))).toEqual(['po-early']);
  expect(await openWatch(rows, ['po-early-reversed', 'po-early-completed'])(new Date(0))).toEqual([
    'po-late',
  ]);
});

it('a hold is followed while it is unanswered, and an end that our open payment lacks is found', async () => {
  const began = { acceptedAt: to, openedAt: to, order: { country: 'KEN' } };
  const rows = ['po-held', 'po-over'].map((_id) => ({ _id, reference: _id, ...began, terms: {} }));
  const ours = rows.map((row) => ({ ...row, status: 'open' }));
  const [held, over] = rows.map((row) => ({ ...row, status: 'INITIALIZED', step: 'awaitingHold' }));
  const records = { find: () => cursor([held ?? {}, { ...over, status: 'COMPLETED' }]) };
  const database = () => ({ collection: () => records }) as never;
  const [payouts] = openGatewayRecords(database, () => 0n);
  const { looks, judge } = watchOpen(payouts, { find: () => cursor(ours) } as never, LIMIT_MS);
  const steps: object[] = [];
  for await (const { references, until } of looks['payout of ours']?.(new Date(0), to) ?? []) {
    expect(until).toEqual(to);
    steps.push(...(await judge(references)));
  }
  expect(steps).toMatchObject([
    { reference: 'po-held', kind: 'payout', step: 'hold', record: { status: 'open' } },
    { reference: 'po-over', kind: 'payout', step: 'end', record: { status: 'completed' } },
  ]);
});
