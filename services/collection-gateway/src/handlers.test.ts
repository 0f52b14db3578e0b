import { type BatchTransaction, idOf } from '@pesewa/messaging';
import { describe, expect, it } from 'vitest';
import { openGateway, payinBody } from './fixtures/gateway.ts';
import { createHandlers } from './handlers.ts';

async function initiatedGateway() {
  const gateway = openGateway();
  await gateway.send({ path: 'payin', body: payinBody() });
  const [collection] = gateway.stored.values();
  if (!collection) throw new Error('nothing is stored');
  return { gateway, reference: collection.reference, stored: () => [...gateway.stored.values()][0] };
}

describe('facts', () => {
  it('complete a collection once, with the asked amount, our fee and the scheduled fee of the rail', async () => {
    const { gateway, reference, stored } = await initiatedGateway();
    await gateway.observe({ reference, status: 'completed' });
    await gateway.observe({ reference, status: 'completed' });
    await gateway.observe({ reference, status: 'failed' });
    expect(stored()?.status).toBe('COMPLETED');
    expect(gateway.emitted.slice(1)).toMatchObject([
      {
        topic: 'collections',
        key: 'demo:GMD',
        version: 3n,
        causationId: 'ev-fact',
        type: 'pesewa.collections.CollectionCompleted',
        payload: {
          occurredAt: BigInt(Date.UTC(2025, 0, 15, 12)),
          reference,
          merchantReference: 'order-1',
          merchantId: 'demo',
          currency: 'GMD',
          rail: 'upstream',
          amountReceived: 10_000n,
          fee: 150n,
          railFee: 100n,
          initiatedAt: BigInt(Date.UTC(2025, 0, 15, 12)),
          webhookUrl: 'https://merchant.example/hook',
        },
      },
    ]);
  });

  it('and requests cause what follows, and all of it belongs to the trace of the payin', async () => {
    const gateway = openGateway();
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    gateway.rail.script.initiation = { kind: 'failed', reason: 'Declined' };
    await gateway.send({ path: 'payin', body: payinBody(), headers: { traceparent } });
    const [initiated, failed] = gateway.emitted;
    expect(initiated).toMatchObject({ causationId: null, traceparent });
    expect(failed).toMatchObject({
      type: 'pesewa.collections.CollectionFailed',
      causationId: initiated && idOf(initiated),
      traceparent,
    });
  });

  it('with another amount leave it pending', async () => {
    const { gateway, reference, stored } = await initiatedGateway();
    await gateway.observe({ reference, status: 'completed', amount: 9_900n });
    expect(stored()?.status).toBe('PENDING');
    expect(gateway.emitted).toHaveLength(1);
  });

  it('fail a collection with their reason', async () => {
    const { gateway, reference } = await initiatedGateway();
    await gateway.observe({ reference, status: 'failed', reason: 'EXPIRED' });
    expect(gateway.emitted[1]).toMatchObject({
      type: 'pesewa.collections.CollectionFailed',
      payload: { failureReason: 'EXPIRED' },
    });
  });

  it('about others change nothing', async () => {
    const { gateway, stored } = await initiatedGateway();
    await gateway.observe({ reference: 'co-other', status: 'failed' });
    expect([stored()?.status, gateway.emitted.length]).toEqual(['PENDING', 1]);
  });

  it('of "not found" queue an unclear one a grace time after its attempt, and wake the initiator', async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'unknown', why: 'connection reset' };
    await gateway.send({ path: 'payin', body: payinBody() });
    const stored = () => [...gateway.stored.values()][0];
    const reference = stored()?.reference;
    await gateway.observe({ reference, status: 'notFound' });
    expect(stored()?.step).toBe('unknown');
    gateway.advance(30_000);
    await gateway.observe({ reference, status: 'notFound' });
    expect(stored()?.step).toBe('queued');
    expect(gateway.wakes.count).toBe(2);
  });
});

describe('a decided amount', () => {
  const decided = (amount: bigint) => ({
    type: 'pesewa.rails.CollectionAmountDecided' as const,
    eventId: 'ev-decided',
    version: 0n,
    key: 'co-1',
    payload: {
      eventId: 'ev-decided',
      occurredAt: 0n,
      rail: 'upstream',
      reference: 'co-1',
      currency: 'GMD',
      amount,
      railFee: 7n,
      breakId: 'br-1',
      decidedBy: 'esi',
      approvedBy: 'kofi',
    },
  });

  it.each([
    [1n, ['co-1'], []],
    [0n, [], [0]],
    [-1n, [], [0]],
  ])('of %s is applied to %o, parked %o', async (amount, applied, parked) => {
    const references: string[] = [];
    const aside: number[] = [];
    const [handler] = createHandlers({
      collections: {
        apply: async (commands) => {
          references.push(...commands.map(({ reference }) => reference));
          return [];
        },
      },
      store: { findByReferences: async () => [] },
      resubmitGraceMs: 0,
      becameDue: () => undefined,
    });
    const transaction: BatchTransaction = {
      session: {} as BatchTransaction['session'],
      emit: () => undefined,
      afterCommit: () => undefined,
      afterRollback: () => undefined,
      park: (index) => void aside.push(index),
      partition: 0,
      isRetry: false,
    };
    await handler?.handle([decided(amount)], transaction);
    expect([references, aside]).toEqual([applied, parked]);
  });
});
