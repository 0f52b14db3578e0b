import { type PaymentKind, WEBHOOK_KEEP_DAYS_MIN, webhookIdOf } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import type { Collection, Db, Document, Filter } from 'mongodb';
import { inPagesBy } from '../batches.ts';
import { gapBetween } from '../domain/coverage.ts';
import { openStates, type Terms } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';
import type { FollowedStep, Overdue, Step } from './following.ts';
import { fromOwner, toOwners, toWebhooks, wholeWay } from './hops.ts';
import type { Hop } from './level.ts';
import { stepId } from './store.ts';

/** A page of payments in the order in which they began or ended. */
export interface StepPage {
  readonly overdue: readonly Overdue[];
  /** When the last of them began or ended. */
  readonly until: Date;
}

/** The source in which one or two steps are seen; other services' databases are only read. */
export interface StepWatch {
  readonly name: string;
  readonly steps: readonly Step[];
  /** The kind whose steps it follows; both, if left out. */
  readonly kind?: PaymentKind;
  /** The hops that must be complete before anything counts as missing. */
  readonly hops: readonly Hop[];
  /** Whether it is over open payments: an audit looks at all of them again. */
  readonly isAudited?: true;
  /** How long after its time a payment is overdue; the limit, if left out. */
  readonly overdueAfterMs?: number;
  /** How long a step of its own, and an answer to a request, takes; the limit of steps, if left out. */
  readonly limitMs?: number;
  /** Checks each payment that began or ended within the period, once. */
  readonly look: (from: Date, to: Date) => AsyncIterable<StepPage>;
  /** The steps that are still unfinished. */
  readonly standing: (steps: readonly FollowedStep[]) => Promise<readonly FollowedStep[]>;
}

/** The fields that are read of an open payout or collection. */
interface OpenRow extends Document {
  readonly reference: string;
  readonly status: string;
  readonly step: string;
  readonly acceptedAt: Date;
}

/** The fields that are read of a payment of ours. */
type KnownRow = Pick<PollDocument, '_id' | 'status'> & { readonly terms?: Terms };

/** The fields that are read of a reference that only callbacks name. */
interface UnknownRow {
  readonly _id: string;
  readonly unknownSince: Date;
  readonly callbacks: readonly { readonly kind: PaymentKind; readonly proven: boolean }[];
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
/** The step of a payout that waits for the ledger. */
const UNANSWERED = 'accepted';
const OPEN_FIELDS = { _id: 0, reference: 1, status: 1, step: 1, acceptedAt: 1 } as const;

/** The watches over both gateways' open records and ours, and over the webhooks of ended payments. */
export function openStepWatches(
  database: (name: string) => Db,
  polls: Collection<PollDocument>,
): readonly StepWatch[] {
  return [
    ...watchOpen(database('payouts').collection('payouts'), polls, {
      kind: 'payout',
      unended: 'INITIALIZED',
    }),
    ...watchOpen(database('collections').collection('collections'), polls, {
      kind: 'collection',
      unended: 'PENDING',
    }),
    ...watchWebhooks(database('webhooks').collection('deliveries'), polls),
  ];
}

/**
 * Compares open payments with their gateway's records in both directions: its open records, which we may lack, and our
 * open payments, which may have ended there or be lost. Steps that either finds are followed by one of them.
 */
function watchOpen(
  records: Collection<OpenRow>,
  polls: Collection<PollDocument>,
  { kind, unended }: { readonly kind: PaymentKind; readonly unended: string },
): readonly StepWatch[] {
  const read = (filter: Filter<OpenRow>) =>
    records.find(filter, { maxTimeMS: READ_TIMEOUT_MS }).project<OpenRow>(OPEN_FIELDS);
  const judge = async (
    references: readonly string[],
    rows: readonly OpenRow[],
  ): Promise<readonly Overdue[]> => {
    const found = new Map(rows.map((row) => [row.reference, row]));
    const known = await polls
      .find({ _id: { $in: [...references] } })
      .project<KnownRow>({ status: 1, terms: 1 })
      .toArray();
    const ours = new Map(known.map(({ _id, status, terms }) => [_id, { status, terms: terms ?? null }]));
    return references.flatMap((reference): readonly Overdue[] => {
      const row = found.get(reference);
      const isOpen = row?.status === unended;
      if (isOpen && row.step === UNANSWERED) return [{ reference, kind, step: 'hold' }];
      const step = gapBetween(ours.get(reference), row ? { isOpen } : null);
      return step ? [{ reference, kind, step }] : [];
    });
  };
  const judgeAll = async (references: readonly string[]) => {
    // The references that a batch has reserved have no status.
    const filter = { reference: { $in: [...references] }, status: { $exists: true } };
    return judge(references, await read(filter).toArray());
  };
  const standing: StepWatch['standing'] = async (steps) => {
    const still = new Set((await judgeAll(steps.map(({ reference }) => reference))).map(stepId));
    return steps.filter((step) => still.has(stepId(step)));
  };
  const common = { kind, standing, isAudited: true } as const;
  return [
    {
      ...common,
      name: kind,
      steps: ['hold', 'opening', 'record'],
      hops: wholeWay[kind],
      look: async function* look(from, to) {
        const pages = inPagesBy('acceptedAt', 'reference', { $gte: from, $lte: to }, (where) =>
          read({ status: unended, ...where }),
        );
        for await (const page of pages) {
          const references = page.map(({ reference }) => reference);
          yield { overdue: await judge(references, page), until: page.at(-1)?.acceptedAt ?? to };
        }
      },
    },
    {
      ...common,
      name: `${kind} of ours`,
      steps: ['end'],
      hops: [fromOwner[kind]],
      look: async function* look(from, to) {
        const pages = inPagesBy('openedAt', '_id', { $gte: from, $lte: to }, (where) =>
          polls
            // State by state, so that no payments are sorted.
            .find({ 'terms.kind': kind, openState: { $in: [...openStates] }, ...where })
            .project<Pick<PollDocument, '_id' | 'openedAt'>>({ openedAt: 1 }),
        );
        for await (const page of pages) {
          const found = await judgeAll(page.map(({ _id }) => _id));
          // Holds are found by the other watch, which waits for the ledger.
          yield { overdue: found.filter(({ step }) => step !== 'hold'), until: page.at(-1)?.openedAt ?? to };
        }
      },
    },
  ];
}

/**
 * The watch over references that proven callbacks name and nothing else: once everything on its way has come, no
 * payment of ours has them.
 */
export function watchUnknown(polls: Collection<PollDocument>, graceMs: number): StepWatch {
  return {
    name: 'unknown reference',
    steps: ['payment'],
    hops: [fromOwner.payout, fromOwner.collection],
    // It is looked at twice within the grace time.
    overdueAfterMs: graceMs / 2,
    limitMs: graceMs / 2,
    look: async function* look(from, to) {
      const pages = inPagesBy('unknownSince', '_id', { $gte: from, $lte: to }, (where) =>
        polls
          .find(where)
          .project<UnknownRow>({ unknownSince: 1, 'callbacks.kind': 1, 'callbacks.proven': 1 }),
      );
      for await (const page of pages) {
        const overdue = page.map(({ _id: reference, callbacks }): Overdue => {
          const proof = callbacks.find(({ proven }) => proven);
          return { reference, kind: proof?.kind ?? 'payout', step: 'payment' };
        });
        yield { overdue, until: page.at(-1)?.unknownSince ?? to };
      }
    },
    standing: async (steps) => {
      const ids = { $in: steps.map(({ reference }) => reference) };
      const found = await polls
        .find({ _id: ids, unknownSince: { $exists: true } })
        .project({ _id: 1 })
        .toArray();
      const still = new Set(found.map(({ _id }) => String(_id)));
      return steps.filter(({ reference }) => still.has(reference));
    },
  };
}

/**
 * Searches the webhooks of ended payments by the ids that they must have: from keys alone. Payments whose end was
 * reported late have a watch of their own, by when we heard of it, because the check at the time of their end may be
 * over by then.
 */
function watchWebhooks(
  deliveries: Collection<{ _id: string }>,
  polls: Collection<PollDocument>,
): readonly StepWatch[] {
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
  const lookBy = (time: 'endedAt' | 'endHeardAt') =>
    async function* look(since: Date, to: Date): AsyncGenerator<StepPage> {
      const from = new Date(Math.max(since.getTime(), to.getTime() - WEBHOOK_SURE_MS));
      const pages = inPagesBy(time, '_id', { $gte: from, $lte: to }, read);
      for await (const page of pages) yield { overdue: await judge(page), until: page.at(-1)?.[time] ?? to };
    };
  const standing: StepWatch['standing'] = async (steps) => {
    const rows = await read({ _id: { $in: steps.map(({ reference }) => reference) } }).toArray();
    const still = new Set((await judge(rows)).map(({ reference }) => reference));
    return steps.filter(({ reference }) => still.has(reference));
  };
  const hops = [...toOwners, ...toWebhooks];
  return [
    { name: 'webhook', steps: ['delivery'], hops, look: lookBy('endedAt'), standing },
    // Steps that either of the two finds are followed by the first.
    { name: 'webhook heard of late', steps: [], hops, look: lookBy('endHeardAt'), standing },
  ];
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
