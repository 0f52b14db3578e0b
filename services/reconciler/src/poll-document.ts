import { isDeepStrictEqual } from 'node:util';
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

/** A value as MongoDB holds it: a time in milliseconds is a date, whose name has no unit. */
type Stored<Value> = Value extends readonly (infer Item)[]
  ? readonly Stored<Item>[]
  : Value extends object
    ? {
        readonly [Name in keyof Value as Name extends `${infer Time}Ms`
          ? Time
          : Name]: Name extends `${string}Ms` ? Date : Stored<Value[Name]>;
      }
    : Value;

/** The fields that are stored if they are not as in a payment of which nothing is known. */
type Fields = Omit<Tracked, 'reference' | 'status' | 'uncompared'>;

type StoredFields = { readonly [Name in keyof Stored<Fields>]?: NonNullable<Stored<Fields>[Name]> };

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
  /** Set of a reference that only callbacks name, and one of them is proven: when the first proven one came. */
  readonly unknownSince?: Date;
  /** Counts what the document was written for only so that others conflict. */
  readonly guards?: number;
  /** Set while the rail's wallet and our float may differ because of the payment, with the amounts. */
  readonly inFlight?: true;
  readonly mayDebit?: bigint;
  readonly mayCredit?: bigint;
}

/** How long a payment is kept after its end, and a reference that only callbacks name after the first, or its first proof. */
export interface KeepTimes {
  readonly paymentMs: number;
  readonly unknownMs: number;
}

/** Writes a payment as MongoDB holds it. */
export function toDocument(tracked: Tracked, keep: KeepTimes): PollDocument {
  const { reference, status, uncompared, ...fields } = tracked;
  const { dueAtMs, endedAtMs, openedAtMs, terms, callbacks } = tracked;
  const moves = inFlight(tracked);
  const unknown: Readonly<Record<string, unknown>> = { ...awaited('', 0) };
  const present = Object.entries(fields).filter(([name, value]) => !isSame(value, unknown[name]));
  return {
    _id: reference,
    status,
    ...(toStored(Object.fromEntries(present)) as StoredFields),
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
  };
}

/** Reads a payment as MongoDB holds it. */
export function fromDocument(document: PollDocument): Tracked {
  const { _id, status, openedAt, uncompared } = document;
  const unknown = awaited(_id, openedAt.getTime());
  const stored = fromStored(document) as Readonly<Record<string, unknown>>;
  const known = Object.entries(unknown).map(([name, value]) => [name, stored[name] ?? value] as const);
  return { ...unknown, ...Object.fromEntries(known), status, uncompared: uncompared !== undefined };
}

function toStored(value: unknown): unknown {
  return mapFields(value, (name, one) =>
    name.endsWith('Ms') ? [name.slice(0, -2), new Date(Number(one))] : [name, toStored(one)],
  );
}

function fromStored(value: unknown): unknown {
  return mapFields(value, (name, one) =>
    one instanceof Date ? [`${name}Ms`, one.getTime()] : [name, fromStored(one)],
  );
}

/** The same with each field of each object in it renamed and changed. */
function mapFields(
  value: unknown,
  change: (name: string, one: unknown) => readonly [string, unknown],
): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => mapFields(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => change(name, one)));
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
