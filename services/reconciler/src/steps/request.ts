import type { Clock } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { Counter, type Registry } from 'prom-client';
import { factsTopics } from '../events.ts';
import type { AskedStep, Overdue } from './following.ts';

/** Asks the owner of a payment to publish again what its record proves; sent when the transaction commits. */
export type RequestRepublication = ReturnType<typeof createRequests>;

/** Builds {@link RequestRepublication}, which counts all requests. */
export function createRequests(registry: Registry, clock: Pick<Clock, 'nowMs'>) {
  const requests = new Counter({
    name: 'republish_requests_total',
    help: 'Steps whose owner was asked to publish its events again, by step.',
    labelNames: ['step'],
    registers: [registry],
  });
  return (
    { reference, kind, step }: Overdue & { readonly step: AskedStep },
    transaction: Pick<Transaction, 'emit' | 'afterCommit'>,
  ): void => {
    transaction.emit({
      topic: factsTopics[kind],
      key: reference,
      version: 0n,
      causationId: null,
      type: 'pesewa.rails.RepublishRequested',
      payload: { occurredAt: BigInt(clock.nowMs()), reference, step },
    });
    transaction.afterCommit(() => requests.inc({ step }));
  };
}
