import type { Claimable } from '@pesewa/messaging';
import {
  awaited,
  inFlight,
  isUnknown,
  needsNoWork,
  type OpenState,
  openStateOf,
  type Tracked,
} from './domain/tracked.ts';

/** The fields that are stored if they are not as in a payment of which nothing is known; its own times as dates, whose names have no unit. */
type StoredFields = {
  readonly [Name in keyof Omit<
    Tracked,
    'reference' | 'status' | 'uncompared'
  > as Name extends `${infer Time}Ms` ? Time : Name]?: Name extends `${string}Ms`
    ? Date
    : NonNullable<Tracked[Name]>;
};

/**
 * A payment of the working set as MongoDB holds it; `_id` is our reference. A field is stored only if it is not as in a
 * payment of which nothing is known: of a payment that goes straight that is true of most.
 */
export interface PollDocument extends Claimable, StoredFields {
  readonly status: Tracked['status'];
  readonly openedAt: Date;
  /** Set while the owner has not ended the payment, from {@link openStateOf}. */
  readonly openState?: OpenState;
  /** Set while there is something to ask: the rail; payments are claimed by it. */
  readonly watch?: string;
  /** Set while no close and no statement has compared its end with its rail's record: that rail. */
  readonly uncompared?: string;
  /**
   * When it is deleted: a payment only once nothing is left to do, and if it never had a break; a reference that only
   * callbacks name, always.
   */
  readonly forgetAt?: Date;
  /** Counts what the document was written for only so that others conflict. */
  readonly guards?: number;
  /** Set while the rail's wallet and our float may differ because of the payment, with the amounts. */
  readonly inFlight?: true;
  readonly mayDebit?: bigint;
  readonly mayCredit?: bigint;
}

/** How long a payment is kept after its end, and a reference that only callbacks name after the first. */
export interface KeepTimes {
  readonly paymentMs: number;
  readonly unknownMs: number;
}

/** Writes a payment as MongoDB holds it. */
export function toDocument(tracked: Tracked, keep: KeepTimes): PollDocument {
  const { reference, status, uncompared, ...fields } = tracked;
  const { dueAtMs, endedAtMs, openedAtMs, terms } = tracked;
  const moves = inFlight(tracked);
  const unknown: Readonly<Record<string, unknown>> = { ...awaited('', 0) };
  const present = Object.entries(fields)
    .filter(([name, value]) => value !== unknown[name] && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) =>
      name.endsWith('Ms') ? [name.slice(0, -2), new Date(Number(value))] : [name, value],
    );
  return {
    _id: reference,
    status,
    ...(Object.fromEntries(present) as StoredFields),
    openedAt: new Date(openedAtMs),
    ...(status === 'open' && { openState: openStateOf(tracked) }),
    ...(dueAtMs !== null && terms && { watch: terms.rail }),
    ...(uncompared && terms && { uncompared: terms.rail }),
    ...(endedAtMs !== null && needsNoWork(tracked) && { forgetAt: new Date(endedAtMs + keep.paymentMs) }),
    ...(isUnknown(tracked) && { forgetAt: new Date(openedAtMs + keep.unknownMs) }),
    ...((moves.mayDebit !== 0n || moves.mayCredit !== 0n) && { inFlight: true, ...moves }),
  };
}

/** Reads a payment as MongoDB holds it. */
export function fromDocument(document: PollDocument): Tracked {
  const { _id, status, openedAt, uncompared } = document;
  const unknown = awaited(_id, openedAt.getTime());
  const stored: Readonly<Record<string, unknown>> = { ...document };
  const known = Object.entries(unknown).map(([name, nothing]) => {
    const value = stored[name.endsWith('Ms') ? name.slice(0, -2) : name];
    return [name, value instanceof Date ? value.getTime() : (value ?? nothing)] as const;
  });
  return { ...unknown, ...Object.fromEntries(known), status, uncompared: uncompared !== undefined };
}
