import { type PaymentKind, WEBHOOK_KEEP_DAYS_MIN, webhookIdOf } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import type { Collection, Db, Document, Filter } from 'mongodb';
import type { CoverageStore } from '../audits/coverage-store.ts';
import { inPagesBy } from '../batches.ts';
import type { PollDocument } from '../poll-document.ts';
import type { FollowedStep, Overdue, Step } from './following.ts';
import { toOwners, toWebhooks, wholeWay } from './hops.ts';
import type { Hop } from './level.ts';

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

/** The watches over both gateways' open records, and over the webhooks of ended payments. */
export function openStepWatches(
  database: (name: string) => Db,
  polls: Collection<PollDocument>,
  coverageStore: Pick<CoverageStore, 'standing'>,
): readonly StepWatch[] {
  const payouts = {
    kind: 'payout',
    unended: 'INITIALIZED',
    steps: ['hold', 'opening'],
    hops: wholeWay.payout,
  } as const;
  const collections = {
    kind: 'collection',
    unended: 'PENDING',
    steps: ['opening'],
    hops: wholeWay.collection,
  } as const;
  return [
    watchOpen(database('payouts').collection('payouts'), coverageStore, payouts),
    watchOpen(database('collections').collection('collections'), coverageStore, collections),
    ...watchWebhooks(database('webhooks').collection('deliveries'), polls),
  ];
}

function watchOpen(
  records: Collection<OpenRow>,
  { standing }: Pick<CoverageStore, 'standing'>,
  options: Pick<StepWatch, 'steps' | 'hops'> & { readonly kind: PaymentKind; readonly unended: string },
): StepWatch {
  const { kind, unended } = options;
  const read = (filter: Filter<OpenRow>) =>
    records.find(filter, { maxTimeMS: READ_TIMEOUT_MS }).project<OpenRow>(OPEN_FIELDS);
  const judge = async (rows: readonly OpenRow[]): Promise<readonly Overdue[]> => {
    const open = rows.filter(({ status }) => status === unended);
    const known = await standing(open.map(({ reference }) => reference));
    return open.flatMap(({ reference, step }): readonly Overdue[] => {
      if (step === UNANSWERED) return [{ reference, kind, step: 'hold' }];
      return known.get(reference)?.terms ? [] : [{ reference, kind, step: 'opening' }];
    });
  };
  return {
    name: kind,
    kind,
    steps: options.steps,
    hops: options.hops,
    look: async function* look(from, to) {
      const pages = inPagesBy('acceptedAt', 'reference', { $gte: from, $lte: to }, (where) =>
        read({ status: unended, ...where }),
      );
      for await (const page of pages)
        yield { overdue: await judge(page), until: page.at(-1)?.acceptedAt ?? to };
    },
    standing: async (steps) => {
      const rows = await read({ reference: { $in: steps.map(({ reference }) => reference) } }).toArray();
      const still = new Set((await judge(rows)).map(({ reference, step }) => `${reference}/${step}`));
      return steps.filter(({ reference, step }) => still.has(`${reference}/${step}`));
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
