import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { openGatewayRecords } from './gateway-records.ts';

const row = {
  reference: 'po-1',
  merchantId: 'demo',
  currency: 'KES',
  amount: 100n,
  rail: 'upstream',
  status: 'INITIALIZED',
  acknowledgedByRail: true,
  acceptedAt: new Date(1_000),
  attemptedAt: new Date(5_000),
  order: { country: 'KEN' },
};

/** A payout's record in a database that only notes how long a read may take. */
function open(record: object) {
  const limits: unknown[] = [];
  const find = (_filter: object, { maxTimeMS }: { readonly maxTimeMS?: number }) => {
    limits.push(maxTimeMS);
    return { project: () => ({ toArray: async () => [record] }) };
  };
  const db = { collection: () => ({ find }) } as unknown as Db;
  const [payouts] = openGatewayRecords(
    () => db,
    () => 0n,
  );
  return { payouts, limits };
}

it('gives the beginning of the attempt that the rail acknowledged', async () => {
  expect(await open(row).payouts.findTakenOnAtMs('po-1')).toBe(5_000);
  const { acknowledgedByRail: _accepted, ...unclear } = row;
  expect(await open(unclear).payouts.findTakenOnAtMs('po-1')).toBeNull();
});

it('gives a poll up within the time that its lease leaves, and an audit later', async () => {
  const { payouts, limits } = open(row);
  await payouts.findTakenOnAtMs('po-1');
  await payouts.find(['po-1']);
  expect(limits).toEqual([4_000, 30_000]);
});
