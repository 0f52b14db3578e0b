import type { AvailabilityStatus, PaymentKind } from '@pesewa/contracts';
import { leasesOf, type Messaging, type OutgoingEvent, takeLease } from '@pesewa/messaging';
import type { Told } from './availability.ts';

/** Longer than the pause between two rounds. */
const LEASE_MS = 90_000;

/** A rail, or a mobile operator there, as it is now. */
export interface RailNow {
  readonly rail: string;
  readonly operatorCode: string | null;
  readonly status: AvailabilityStatus;
  readonly measured: Told;
}

/**
 * Builds what publishes the status of each rail and mobile operator, when a replica begins to and whenever it changes. One
 * replica at a time does so: each has circuits of its own, so that several would contradict each other.
 */
export function createAvailabilityEvents(
  { db, owner, inTransaction }: Pick<Messaging, 'db' | 'owner' | 'inTransaction'>,
  kind: PaymentKind,
): (rails: readonly RailNow[], nowMs: number) => Promise<void> {
  const lease = { name: 'availability', owner, durationMs: LEASE_MS };
  const published = new Map<string, AvailabilityStatus>();
  return async (rails, nowMs) => {
    if (!(await takeLease(leasesOf(db), lease))) return published.clear();
    const changed = rails
      .map((one) => ({ ...one, key: keyOf(kind, one) }))
      .filter(({ key, status }) => published.get(key) !== status);
    if (changed.length === 0) return;
    await inTransaction(async ({ emit }) => {
      for (const one of changed) emit(reportedEvent(kind, one, nowMs));
    });
    for (const { key, status } of changed) published.set(key, status);
  };
}

const keyOf = (kind: PaymentKind, { rail, operatorCode }: RailNow): string =>
  operatorCode === null ? `${kind}:${rail}` : `${kind}:${rail}:${operatorCode}`;

function reportedEvent(kind: PaymentKind, now: RailNow, nowMs: number): OutgoingEvent {
  const { rail, operatorCode, status, measured } = now;
  const { successRate, medianMs, p95Ms } = measured;
  return {
    topic: 'railAvailability',
    key: keyOf(kind, now),
    version: BigInt(nowMs),
    causationId: null,
    type: 'pesewa.rails.RailAvailabilityReported',
    payload: {
      occurredAt: BigInt(nowMs),
      kind,
      rail,
      operatorCode,
      status,
      successPermille: successRate === null ? null : Math.round(successRate * 1_000),
      medianMs: medianMs === null ? null : BigInt(medianMs),
      p95Ms: p95Ms === null ? null : BigInt(p95Ms),
    },
  };
}
