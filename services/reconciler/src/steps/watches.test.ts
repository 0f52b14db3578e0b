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

/** Collections that answer the search for webhooks: the payments that have ended, and the existing webhooks. */
function openWatch(rows: readonly Row[], webhooks: readonly string[]) {
  const cursor = (found: readonly object[]) => {
    const chain = { project: () => chain, sort: () => chain, limit: () => chain, toArray: async () => found };
    return chain;
  };
  const polls = {
    find: ({ endedAt }: { readonly endedAt: { readonly $gte: Date } | Date }) =>
      cursor('$gte' in endedAt ? rows.filter((row) => row.endedAt >= endedAt.$gte) : []),
  };
  const deliveries = {
    find: ({ _id }: { readonly _id: { readonly $in: readonly string[] } }) =>
      cursor(_id.$in.filter((id) => webhooks.includes(id)).map((id) => ({ _id: id }))),
  };
  const look = watchWebhooks(deliveries as never, polls as never).looks['webhook'];
  return async (from: Date) => {
    const found: string[] = [];
    for await (const { overdue } of look?.(from, to) ?? [])
      found.push(...overdue.map((one) => one.reference));
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
  const found = (of: readonly object[]) => {
    const chain = { project: () => chain, sort: () => chain, limit: () => chain, toArray: async () => of };
    return chain;
  };
  const records = { find: () => found([held ?? {}, { ...over, status: 'COMPLETED' }]) };
  const database = () => ({ collection: () => records }) as never;
  const [payouts] = openGatewayRecords(database, () => 0n);
  const { looks, standing } = watchOpen(payouts, { find: () => found(ours) } as never);
  const steps: object[] = [];
  for await (const { overdue } of looks['payout of ours']?.(new Date(0), to) ?? []) steps.push(...overdue);
  const hold = { reference: 'po-held', kind: 'payout', step: 'hold' } as const;
  expect(steps).toEqual([hold, { reference: 'po-over', kind: 'payout', step: 'end' }]);
  const followed = { ...hold, since: to, requests: 1, dueAt: to, isReported: false };
  const still = await standing([followed, { ...followed, step: 'opening' }]);
  expect([...still]).toMatchObject([[followed, { reference: 'po-held', status: 'open' }]]);
});
