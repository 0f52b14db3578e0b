import { type PaymentKind, WEBHOOK_KEEP_DAYS_MIN, webhookIdOf } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import type { Collection, Document, Filter } from 'mongodb';
import { inPagesBy } from '../batches.ts';
import { judgeBooks } from '../domain/books.ts';
import { gapBetween } from '../domain/coverage.ts';
import { openStates } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';
import type { WorkingStore } from '../store.ts';
import type { Overdue, Step } from './following.ts';
import type { GatewayRecords } from './gateway-records.ts';

/** A page of payments in the order in which they began or ended. */
export interface StepPage {
  readonly references: readonly string[];
  /** When the last of them began or ended. */
  readonly until: Date;
}

/** Names each payment that began or ended within a period, once. */
export type Look = (from: Date, to: Date) => AsyncIterable<StepPage>;

/** Where some steps are seen; other services' databases are only read. */
export interface StepWatch {
  /** By name: how far each has looked is noted under it. */
  readonly looks: Readonly<Record<string, Look>>;
  readonly steps: readonly Step[];
  /** The kind whose steps it follows; both, if left out. */
  readonly kind?: PaymentKind;
  /** How long after its time a payment is overdue. */
  readonly overdueAfterMs: number;
  /** How long an answer to a request may take. */
  readonly limitMs: number;
  /** Which of these payments are at one of the steps for too long. */
  readonly judge: (references: readonly string[]) => Promise<readonly Overdue[]>;
}

const READ_TIMEOUT_MS = 30_000;

/** Looks at payments in the order of a time, by the keys of an index alone. */
function lookBy<Row extends Document>(
  payments: Collection<Row>,
  time: string,
  reference: string,
  filter: Filter<Row>,
): Look {
  return async function* look($gte, $lte) {
    const pages = inPagesBy<Document>(time, reference, { $gte, $lte }, (where) =>
      payments
        .find({ $and: [filter, where] } as Filter<Row>, { maxTimeMS: READ_TIMEOUT_MS })
        .project({ _id: 0, [time]: 1, [reference]: 1 }),
    );
    for await (const page of pages) {
      const references = page.map((row) => String(row[reference]));
      yield { references, until: page.at(-1)?.[time] as Date };
    }
  };
}

/** The looks at open payments, which an audit has begin again: at the gateway's, and at ours. */
export function auditedLooks(kind: PaymentKind) {
  return [kind, `${kind} of ours`] as const;
}

/**
 * Compares open payments with their gateway's records in both directions: its open records, which we may lack, and our
 * open payments, which may have ended there or be lost.
 */
export function watchOpen(
  gateway: GatewayRecords,
  polls: Collection<PollDocument>,
  limitMs: number,
): StepWatch {
  const { kind } = gateway;
  const [theirs, ours] = auditedLooks(kind);
  const status = kind === 'payout' ? 'INITIALIZED' : 'PENDING';
  // State by state, so that no payments are sorted.
  const isOpen = { 'terms.kind': kind, openState: { $in: [...openStates] } };
  return {
    looks: {
      [theirs]: lookBy(gateway.collection, 'acceptedAt', 'reference', { status }),
      [ours]: lookBy(polls, 'openedAt', '_id', isOpen),
    },
    kind,
    steps: ['hold', 'opening', 'record', 'end'],
    overdueAfterMs: limitMs,
    limitMs,
    judge: async (references) => {
      const records = await gateway.find(references);
      const known = await polls
        .find({ _id: { $in: [...references] } })
        .project<Pick<PollDocument, '_id' | 'status' | 'terms'>>({ status: 1, terms: 1 })
        .toArray();
      const here = new Map(known.map((row) => [row._id, row]));
      return references.flatMap((reference): readonly Overdue[] => {
        const record = records.get(reference);
        const step = record?.awaitsHold ? 'hold' : gapBetween(here.get(reference), record);
        return step ? [{ reference, kind, step, record }] : [];
      });
    },
  };
}

/** The fields that are read of a payment of ours that has ended. */
interface EndedRow {
  readonly _id: string;
  readonly status: 'completed' | 'failed' | 'reversed';
  readonly openedAt: Date;
  readonly endedAt: Date;
  readonly terms?: { readonly kind: PaymentKind };
}

/**
 * Searches the webhooks of ended payments by the ids that they must have: from keys alone. Payments whose end was
 * reported late are looked at by when we heard of it, because the check at the time of their end may be over by then.
 */
export function watchWebhooks(
  deliveries: Collection<{ _id: string }>,
  polls: Collection<PollDocument>,
  limitMs: number,
): StepWatch {
  const lookWhileKept = (time: 'endedAt' | 'endHeardAt'): Look => {
    const look = lookBy(polls, time, '_id', {});
    return (from, to) => look(new Date(Math.max(from.getTime(), to.getTime() - WEBHOOK_SURE_MS)), to);
  };
  return {
    looks: { webhook: lookWhileKept('endedAt'), 'webhook heard of late': lookWhileKept('endHeardAt') },
    steps: ['delivery'],
    overdueAfterMs: limitMs,
    limitMs,
    judge: async (references) => {
      const rows = await polls
        .find({ _id: { $in: [...references] } })
        .project<EndedRow>({ status: 1, openedAt: 1, endedAt: 1, 'terms.kind': 1 })
        .toArray();
      const owed = rows.map((row) => ({ ...row, webhooks: webhooksOf(row) }));
      const found = await deliveries
        .find({ _id: { $in: owed.flatMap(({ webhooks }) => webhooks) } }, { maxTimeMS: READ_TIMEOUT_MS })
        .project<{ _id: string }>({ _id: 1 })
        .toArray();
      const there = new Set(found.map(({ _id }) => _id));
      return owed.flatMap(({ _id: reference, terms, webhooks }): readonly Overdue[] =>
        !terms || webhooks.every((id) => there.has(id))
          ? []
          : [{ reference, kind: terms.kind, step: 'delivery' }],
      );
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
 * proven callback names.
 */
export function watchEntries(
  kind: PaymentKind,
  store: Pick<WorkingStore, 'load' | 'collection'>,
  limitMs: number,
): StepWatch {
  const look = lookBy(store.collection, 'booksDueAt', '_id', { _id: REFERENCES[kind] });
  return {
    // Whatever is due has not been followed yet.
    looks: { [`entry of a ${kind}`]: (_from, to) => look(new Date(0), to) },
    kind,
    steps: ['entry'],
    // The grace time has passed by then.
    overdueAfterMs: 0,
    limitMs,
    judge: async (references) => {
      const payments = await store.load(references);
      return references.flatMap((reference): readonly Overdue[] => {
        const tracked = payments.get(reference);
        return tracked && judgeBooks(tracked) ? [{ reference, kind, step: 'entry' }] : [];
      });
    },
  };
}
