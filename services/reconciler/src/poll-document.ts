import { isDeepStrictEqual } from 'node:util';
import type { Claimable } from '@pesewa/messaging';
import type { Claim } from './domain/claim.ts';
import {
  awaited,
  inFlight,
  isUnknown,
  needsNoWork,
  type OpenState,
  openStateOf,
  type TimelineEntry,
  type Tracked,
} from './domain/tracked.ts';

/** The times of a payment, and what they are stored as. */
const TIMES = {
  openedAtMs: 'openedAt',
  endedAtMs: 'endedAt',
  endHeardAtMs: 'endHeardAt',
  dueAtMs: 'dueAt',
  scheduledAtMs: 'scheduledAt',
  askedAtMs: 'askedAt',
  refusedAtMs: 'refusedAt',
  notFoundSinceMs: 'notFoundSince',
  endReportedAtMs: 'endReportedAt',
  booksDueAtMs: 'booksDueAt',
} as const satisfies Partial<Record<keyof Tracked, string>>;

/** The fields that are stored in another way, or always. */
type Special = 'reference' | 'status' | 'uncompared' | 'callbacks' | 'timeline';

/** The fields that are stored as they are. */
type Fields = Omit<Tracked, keyof typeof TIMES | Special>;

type StoredFields = { readonly [Time in (typeof TIMES)[keyof typeof TIMES]]?: Date } & {
  readonly [Name in keyof Fields]?: NonNullable<Fields[Name]>;
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
  readonly callbacks?: readonly (Omit<Claim, 'atMs' | 'lastAtMs'> & {
    readonly at: Date;
    readonly lastAt?: Date;
  })[];
  /**
   * When it is deleted: a payment only once nothing is left to do, and if it never had a break; a reference that only
   * callbacks name, always.
   */
  readonly forgetAt?: Date;
  /** Set of a reference that only callbacks name, and one of them is proven: when the first proven one came. */
  readonly unknownSince?: Date;
  /** Counts what the document was written for only so that others conflict. */
  readonly guards?: number;
  /** Set while the rail's wallet and our float may differ because of the payment, with the amounts. */
  readonly inFlight?: true;
  readonly mayDebit?: bigint;
  readonly mayCredit?: bigint;
  readonly timeline?: readonly (Omit<TimelineEntry, 'atMs' | 'lastAtMs'> & {
    readonly at: Date;
    readonly lastAt: Date;
  })[];
}

const isTime = (name: string): name is keyof typeof TIMES => name in TIMES;

/** How long a payment is kept after its end, and a reference that only callbacks name after the first, or its first proof. */
export interface KeepTimes {
  readonly paymentMs: number;
  readonly unknownMs: number;
}

/** Writes a payment as MongoDB holds it. */
export function toDocument(tracked: Tracked, keep: KeepTimes): PollDocument {
  const { reference, status, uncompared, callbacks, timeline, ...fields } = tracked;
  const { dueAtMs, endedAtMs, openedAtMs, terms } = tracked;
  const moves = inFlight(tracked);
  return {
    _id: reference,
    status,
    ...toStored(fields),
    openedAt: new Date(openedAtMs),
    ...(status === 'open' && { openState: openStateOf(tracked) }),
    ...(dueAtMs !== null && terms && { watch: terms.rail }),
    ...(uncompared && terms && { uncompared: terms.rail }),
    ...(endedAtMs !== null && needsNoWork(tracked) && { forgetAt: new Date(endedAtMs + keep.paymentMs) }),
    ...(isUnknown(tracked) && {
      forgetAt: new Date(openedAtMs + keep.unknownMs),
      ...(callbacks.some(({ proven }) => proven) && { unknownSince: new Date(openedAtMs) }),
    }),
    ...((moves.mayDebit !== 0n || moves.mayCredit !== 0n) && { inFlight: true, ...moves }),
    ...(callbacks.length > 0 && {
      callbacks: callbacks.map(({ atMs, lastAtMs, ...callback }) => {
        const lastAt = lastAtMs !== undefined && { lastAt: new Date(lastAtMs) };
        return { ...callback, at: new Date(atMs), ...lastAt };
      }),
    }),
    ...(timeline.length > 0 && {
      timeline: timeline.map(({ atMs, lastAtMs, ...entry }) => {
        return { ...entry, at: new Date(atMs), lastAt: new Date(lastAtMs) };
      }),
    }),
  };
}

function toStored(fields: Omit<Tracked, Special>): StoredFields {
  const unknown: Readonly<Record<string, unknown>> = { ...awaited('', 0) };
  const present = Object.entries(fields).filter(([name, value]) => !isSame(value, unknown[name]));
  const stored = present.map(([name, value]) =>
    isTime(name) ? [TIMES[name], new Date(Number(value))] : [name, value],
  );
  return Object.fromEntries(stored) as StoredFields;
}

/** Reads a payment as MongoDB holds it. */
export function fromDocument(document: PollDocument): Tracked {
  const { _id, status, openedAt, callbacks = [], timeline = [] } = document;
  const unknown = awaited(_id, openedAt.getTime());
  const known = Object.entries(unknown).map(([name, value]): readonly [string, unknown] =>
    isTime(name)
      ? [name, document[TIMES[name]]?.getTime() ?? null]
      : [name, document[name as keyof Fields] ?? value],
  );
  return {
    ...unknown,
    ...Object.fromEntries(known),
    status,
    uncompared: document.uncompared !== undefined,
    callbacks: callbacks.map(({ at, lastAt, ...callback }) => ({
      ...callback,
      atMs: at.getTime(),
      ...(lastAt && { lastAtMs: lastAt.getTime() }),
    })),
    timeline: timeline.map(({ at, lastAt, ...entry }) => ({
      ...entry,
      atMs: at.getTime(),
      lastAtMs: lastAt.getTime(),
    })),
  };
}

/** What turns one stored payment into another; undefined if they are the same. */
export function changeOf(before: PollDocument, after: PollDocument): object | undefined {
  const old = new Map<string, unknown>(Object.entries(before));
  const set = Object.entries(after).filter(([name, value]) => !isSame(value, old.get(name)));
  const unset = [...old.keys()].filter((name) => name !== 'guards' && !(name in after));
  if (set.length === 0 && unset.length === 0) return undefined;
  return {
    ...(set.length > 0 && { $set: Object.fromEntries(set) }),
    ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((name) => [name, ''])) }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && isDeepStrictEqual(one, other));
}
