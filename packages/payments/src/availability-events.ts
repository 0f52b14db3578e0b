import type { AvailabilityStatus, PaymentKind } from '@pesewa/contracts';
import { leasesOf, type Messaging, type OutgoingEvent, takeLease } from '@pesewa/messaging';
import type { Told } from './availability.ts';

/** Longer than the pause between two rounds. */
const LEASE_MS = 90_000;
/** After so long all is published again: after a crash or a stop an older event may have come last. */
const ANEW_MS = 600_000;
/** The lease whose holder publishes. */
export const AVAILABILITY_LEASE = 'availability';

/** A rail, or a mobile operator there, as it is now. */
export interface RailNow {
  readonly rail: string;
  readonly operatorCode: string | null;
  readonly status: AvailabilityStatus;
  readonly measured: Told;
}

/**
 * Builds what publishes the status of each rail and mobile operator: all when a replica begins to and every ten minutes, and
 * each that changes. One replica at a time does so: each has circuits of its own, so that several would contradict each other.
 */
export function createAvailabilityEvents(
  { db, owner, inTransaction }: Pick<Messaging, 'db' | 'owner' | 'inTransaction'>,
  kind: PaymentKind,
): (rails: readonly RailNow[], nowMs: number) => Promise<void> {
  const lease = { name: AVAILABILITY_LEASE, owner, durationMs: LEASE_MS };
  let published: Published | undefined;
  return async (rails, nowMs) => {
    const before = published;
    // Whatever fails below, others may have published before the next round.
    published = undefined;
    if (!(await takeLease(leasesOf(db), lease))) return;
    const isLast = before && nowMs - before.atMs <= LEASE_MS && nowMs - before.allAtMs < ANEW_MS;
    const { allAtMs, statuses } = isLast ? before : { allAtMs: nowMs, statuses: undefined };
    const now = new Map(rails.map((one) => [keyOf(kind, one), one]));
    const changed = [...now].filter(([key, { status }]) => statuses?.get(key)?.status !== status);
    if (changed.length > 0)
      await inTransaction(async ({ emit }) => {
        for (const [key, one] of changed) emit(reportedEvent(kind, key, one, nowMs));
      });
    published = { allAtMs, atMs: nowMs, statuses: now };
  };
}

/** What we published, and when: all of it, and when we last knew that nobody else does. */
interface Published {
  readonly allAtMs: number;
  readonly atMs: number;
  readonly statuses: ReadonlyMap<string, RailNow>;
}

const keyOf = (kind: PaymentKind, { rail, operatorCode }: RailNow): string =>
  operatorCode === null ? `${kind}:${rail}` : `${kind}:${rail}:${operatorCode}`;

function reportedEvent(kind: PaymentKind, key: string, now: RailNow, nowMs: number): OutgoingEvent {
  const { rail, operatorCode, status, measured } = now;
  const { successRate, medianMs, p95Ms } = measured;
  return {
    topic: 'railAvailability',
    key,
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
