import { type PaymentKind, WEBHOOK_KEEP_DAYS_MIN, webhookIdOf } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import type { Collection, Filter } from 'mongodb';
import { inPagesBy } from '../batches.ts';
import { judgeBooks } from '../domain/books.ts';
import { gapBetween, type OwnerRecord } from '../domain/coverage.ts';
import { isFoundAgain } from '../domain/observing.ts';
import { openStates } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';
import type { WorkingStore } from '../store.ts';
import type { FollowedStep, Overdue, Step } from './following.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { stepId } from './store.ts';

/** A page of payments in the order in which they began or ended. */
export interface StepPage {
  readonly overdue: readonly Overdue[];
  /** When the last of them began or ended. */
  readonly until: Date;
}

/** Checks each payment that began or ended within a period, once. */
export type Look = (from: Date, to: Date) => AsyncIterable<StepPage>;

/** Where some steps are seen; other services' databases are only read. */
export interface StepWatch {
  /** By name: how far each has looked is noted under it. */
  readonly looks: Readonly<Record<string, Look>>;
  readonly steps: readonly Step[];
  /** The kind whose steps it follows; both, if left out. */
  readonly kind?: PaymentKind;
  /** How long after its time a payment is overdue; the limit of steps, if left out. */
  readonly overdueAfterMs?: number;
  /** Those of these steps that are still unfinished, each with its gateway's record if that was read. */
  readonly standing: (
    steps: readonly FollowedStep[],
  ) => Promise<ReadonlyMap<FollowedStep, OwnerRecord | undefined>>;
}

/** The fields that are read of a payment of ours that has ended. */
interface EndedRow {
  readonly _id: string;
  readonly status: 'completed' | 'failed' | 'reversed';
  readonly openedAt: Date;
  readonly endedAt: Date;
  readonly endHeardAt?: Date;
  readonly terms?: { readonly kind: PaymentKind };
}

const READ_TIMEOUT_MS = 30_000;

const referencesOf = (steps: readonly Pick<FollowedStep, 'reference'>[]) =>
  steps.map(({ reference }) => reference);

async function* looked<Row extends { readonly [Name in Time]?: Date }, Time extends string>(
  pages: AsyncIterable<readonly Row[]>,
  time: Time,
  overdueIn: (page: readonly Row[]) => readonly Overdue[] | Promise<readonly Overdue[]>,
): AsyncGenerator<StepPage> {
  for await (const page of pages) {
    const until = page.at(-1)?.[time];
    if (until) yield { overdue: await overdueIn(page), until };
  }
}

/** Those of the steps whose payments are among these, without records. */
function ofReferences(steps: readonly FollowedStep[], references: ReadonlySet<string>) {
  const still = steps.filter(({ reference }) => references.has(reference));
  return new Map(still.map((step) => [step, undefined]));
}

/** The looks at open payments, which an audit has begin again: at the gateway's, and at ours. */
export function auditedLooks(kind: PaymentKind) {
  return [kind, `${kind} of ours`] as const;
}

/**
 * Compares open payments with their gateway's records in both directions: its open records, which we may lack, and our
 * open payments, which may have ended there or be lost.
 */
export function watchOpen(gateway: GatewayRecords, polls: Collection<PollDocument>): StepWatch {
  const { kind } = gateway;
  const [theirs, ours] = auditedLooks(kind);
  const judge = async (references: readonly string[], records: ReadonlyMap<string, OwnerRecord>) => {
    const known = await polls
      .find({ _id: { $in: [...references] } })
      .project<Pick<PollDocument, '_id' | 'status' | 'terms'>>({ status: 1, terms: 1 })
      .toArray();
    const here = new Map(known.map((row) => [row._id, row]));
    return references.flatMap((reference): readonly Overdue[] => {
      const record = records.get(reference);
      const step = record?.awaitsHold ? 'hold' : gapBetween(here.get(reference), record);
      return step ? [{ reference, kind, step }] : [];
    });
  };
  const lookAtTheirs: Look = (from, to) =>
    looked(gateway.open(from, to), 'acceptedAt', (page) =>
      judge(referencesOf(page), new Map(page.map((record) => [record.reference, record]))),
    );
  const lookAtOurs: Look = ($gte, $lte) => {
    const pages = inPagesBy('openedAt', '_id', { $gte, $lte }, (where) =>
      polls
        // State by state, so that no payments are sorted.
        .find({ 'terms.kind': kind, openState: { $in: [...openStates] }, ...where })
        .project<Pick<PollDocument, '_id' | 'openedAt'>>({ openedAt: 1 }),
    );
    return looked(pages, 'openedAt', async (page) => {
      const references = page.map(({ _id }) => _id);
      return judge(references, await gateway.find(references));
    });
  };
  return {
    looks: { [theirs]: lookAtTheirs, [ours]: lookAtOurs },
    kind,
    steps: ['hold', 'opening', 'record', 'end'],
    standing: async (steps) => {
      const references = referencesOf(steps);
      const records = await gateway.find(references);
      const still = new Set((await judge(references, records)).map(stepId));
      const standing = steps.filter((step) => still.has(stepId(step)));
      return new Map(standing.map((step) => [step, records.get(step.reference)]));
    },
  };
}

/**
 * Searches the webhooks of ended payments by the ids that they must have: from keys alone. Payments whose end was
 * reported late are looked at by when we heard of it, because the check at the time of their end may be over by then.
 */
export function watchWebhooks(
  deliveries: Collection<{ _id: string }>,
  polls: Collection<PollDocument>,
): StepWatch {
  const judge = async (rows: readonly EndedRow[]): Promise<readonly Overdue[]> => {
    const owed = new Map(rows.map((row) => [row._id, webhooksOf(row)]));
    const found = await deliveries
      .find({ _id: { $in: [...owed.values()].flat() } }, { maxTimeMS: READ_TIMEOUT_MS })
      .project<{ _id: string }>({ _id: 1 })
      .toArray();
    const there = new Set(found.map(({ _id }) => _id));
    return rows.flatMap(({ _id: reference, terms }): readonly Overdue[] => {
      const isWhole = owed.get(reference)?.every((id) => there.has(id)) ?? true;
      return isWhole || !terms ? [] : [{ reference, kind: terms.kind, step: 'delivery' }];
    });
  };
  const read = (filter: Filter<PollDocument>) =>
    polls
      .find(filter)
      .project<EndedRow>({ status: 1, openedAt: 1, endedAt: 1, endHeardAt: 1, 'terms.kind': 1 });
  const lookBy =
    (time: 'endedAt' | 'endHeardAt'): Look =>
    (from, to) => {
      const $gte = new Date(Math.max(from.getTime(), to.getTime() - WEBHOOK_SURE_MS));
      return looked(inPagesBy(time, '_id', { $gte, $lte: to }, read), time, judge);
    };
  return {
    looks: { webhook: lookBy('endedAt'), 'webhook heard of late': lookBy('endHeardAt') },
    steps: ['delivery'],
    standing: async (steps) => {
      const rows = await read({ _id: { $in: referencesOf(steps) } }).toArray();
      return ofReferences(steps, new Set(referencesOf(await judge(rows))));
    },
  };
}

/**
 * Within this time after an end its webhook certainly still exists: half of the time that webhooks are kept, because a
 * check may come late.
 */
const WEBHOOK_SURE_MS = (WEBHOOK_KEEP_DAYS_MIN / 2) * DAY_MS;

/** A reversal follows a completion; if that was long ago, its webhook may be deleted. */
function webhooksOf({ _id: reference, status, openedAt, endedAt }: EndedRow): readonly string[] {
  const own = webhookIdOf(reference, status);
  const isRecent = endedAt.getTime() - openedAt.getTime() < WEBHOOK_SURE_MS;
  return status === 'reversed' && isRecent ? [webhookIdOf(reference, 'completed'), own] : [own];
}

/** The references of each kind: of an unknown payment nothing else says it. */
const REFERENCES = {
  payout: { $not: /^co-/ },
  collection: /^co-/,
} as const satisfies Record<PaymentKind, unknown>;

/**
 * The watch over payments of a kind that the ledger's entries do not match a grace time later, or that only an entry or a
 * proven callback names. A reported one is followed until they match, or an order or a person has resolved its break; one
 * that is unknown no more.
 */
export function watchEntries(kind: PaymentKind, store: Pick<WorkingStore, 'load' | 'collection'>): StepWatch {
  const look: Look = (_from, $lte) => {
    const pages = inPagesBy('booksDueAt', '_id', { $lte }, (where) =>
      store.collection
        .find({ $and: [where, { _id: REFERENCES[kind] }] })
        .project<{ readonly _id: string; readonly booksDueAt: Date }>({ booksDueAt: 1 }),
    );
    return looked(pages, 'booksDueAt', (page) =>
      page.map(({ _id: reference }) => ({ reference, kind, step: 'entry' })),
    );
  };
  return {
    looks: { [`entry of a ${kind}`]: look },
    kind,
    steps: ['entry'],
    // The grace time has passed by then.
    overdueAfterMs: 0,
    standing: async (steps) => {
      const payments = await store.load(referencesOf(steps));
      const lacking = steps.filter(({ reference, isReported }) => {
        const tracked = payments.get(reference);
        const found = tracked && judgeBooks(tracked)?.kind;
        return found && (!isReported || (isFoundAgain(found) && tracked.breaks.includes(found)));
      });
      return new Map(lacking.map((step) => [step, undefined]));
    },
  };
}
