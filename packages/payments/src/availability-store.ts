import { type AvailabilityView, availabilityOperations, type PaymentKind } from '@pesewa/contracts';
import { firstIdAt } from '@pesewa/kernel';
import { endLease, leasesOf, type Messaging, startLoop } from '@pesewa/messaging';
import { answer, refused, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Db, Document } from 'mongodb';
import {
  type EndedPayment,
  measure,
  measureForMerchants,
  OPEN_TOO_LONG_MIN_MS,
  type PaymentSample,
  type PaymentWay,
  type ServingRail,
  statusOf,
  type Told,
  viewForMerchants,
} from './availability.ts';
import { AVAILABILITY_LEASE, createAvailabilityEvents } from './availability-events.ts';
import type { IsPaused } from './pauses.ts';
import { unendedStatus } from './payment-list.ts';

const WINDOW_MS = 3_600_000;
const REFRESH_MS = 30_000;
const READ_TIMEOUT_MS = 10_000;
/** The hour is read in slices, so that the newest seconds of a busy hour do not stand for all of it. */
const SLICES = 30;
const SLICE_MAX = 100;
const OPEN_MAX = 1_000;

/** Where a gateway's payments are, and how our references of them begin. */
export interface MeasuredStore {
  readonly db: Db;
  readonly collection: string;
  readonly prefix: keyof typeof unendedStatus;
}

const kinds = { po: 'payout', co: 'collection' } as const satisfies Record<
  MeasuredStore['prefix'],
  PaymentKind
>;

const parts = {
  _id: 0,
  merchantId: 1,
  rail: 1,
  currency: 1,
  operatorCode: '$order.operatorCode',
  country: '$order.country',
  channel: '$order.channel',
  acceptedAt: 1,
} as const;

interface FoundPayment extends PaymentWay {
  readonly merchantId: string;
  readonly acceptedAt: Date;
  readonly slice: number;
  readonly status: EndedPayment['status'] | (typeof unendedStatus)[keyof typeof unendedStatus];
  readonly attempts: number;
  readonly reason: string | null;
  readonly endedAt: Date | null;
}

/** The pipeline that reads at most 100 payments of each two minutes of an hour, by the index of our references. */
export function samplePipeline({ collection, prefix }: MeasuredStore, fromMs: number): Document[] {
  const startOf = (slice: number) => firstIdAt(prefix, fromMs + (slice * WINDOW_MS) / SLICES);
  const ended = {
    status: 1,
    attempts: 1,
    reason: { $ifNull: ['$statusReason', '$failureReason', null] },
    endedAt: { $last: '$timeline.at' },
  };
  const [first = [], ...others] = Array.from({ length: SLICES }, (_, slice) => [
    { $match: { reference: { $gte: startOf(slice), $lt: startOf(slice + 1) } } },
    { $sort: { reference: 1 } },
    { $limit: SLICE_MAX },
    { $project: { ...parts, ...ended, slice: { $literal: slice } } },
  ]);
  return [...first, ...others.map((pipeline) => ({ $unionWith: { coll: collection, pipeline } }))];
}

/** Finds the oldest payments that have not ended, by the index that has these alone. */
export function findOpen({ db, collection, prefix }: MeasuredStore, nowMs: number) {
  const acceptedAt = { $lt: new Date(nowMs - OPEN_TOO_LONG_MIN_MS) };
  return db
    .collection(collection)
    .find({ status: unendedStatus[prefix], acceptedAt }, { maxTimeMS: READ_TIMEOUT_MS })
    .sort({ acceptedAt: 1 })
    .limit(OPEN_MAX)
    .project<PaymentWay & Pick<FoundPayment, 'acceptedAt'>>(parts);
}

/** Reads how payments of the last hour have ended, and which are open; a bounded number, however many there are. */
export async function readSample(
  store: MeasuredStore,
  nowMs: number,
): Promise<PaymentSample & { readonly fromMs: number; readonly isSample: boolean }> {
  const fromMs = nowMs - WINDOW_MS;
  const [found, waiting] = await Promise.all([
    store.db
      .collection(store.collection)
      .aggregate<FoundPayment>(samplePipeline(store, fromMs), { maxTimeMS: READ_TIMEOUT_MS })
      .toArray(),
    findOpen(store, nowMs).toArray(),
  ]);
  const ended = found
    // What never left for its rail, such as a payout without cover, says nothing of the rail.
    .filter(({ attempts }) => attempts > 0)
    .flatMap(({ status, acceptedAt, endedAt, ...payment }) =>
      status === 'INITIALIZED' || status === 'PENDING'
        ? []
        : [{ ...payment, status, tookMs: endedAt && endedAt.getTime() - acceptedAt.getTime() }],
    );
  const open = waiting.map(({ acceptedAt, ...way }) => ({ ...way, openForMs: nowMs - acceptedAt.getTime() }));
  const slices = [...Map.groupBy(found, ({ slice }) => slice).values()];
  const isSample = slices.some(({ length }) => length === SLICE_MAX);
  return { fromMs, isSample, ended, open, isCut: open.length === OPEN_MAX };
}

/**
 * Measures a gateway's availability every half minute, shows it to operators by rail and mobile operator, and publishes
 * their status: no request reads the database. Gives what a merchant may be told of its ways; undefined before the first time.
 */
export async function addAvailability<Way extends PaymentWay>(
  scope: Pick<ServiceScope<object>, 'open' | 'operator' | 'clock' | 'logger'>,
  {
    messaging,
    isPaused,
    ...measured
  }: Omit<MeasuredStore, 'db'> & {
    readonly messaging: Pick<Messaging, 'db' | 'owner' | 'inTransaction'>;
    readonly isPaused: IsPaused;
  },
  ways: {
    readonly operators: readonly { readonly rail: ServingRail; readonly operatorCode?: string }[];
    readonly merchants: readonly { readonly way: Way; readonly rails: readonly ServingRail[] }[];
  },
) {
  const { clock, logger } = scope;
  const store = { ...measured, db: messaging.db };
  const publish = createAvailabilityEvents(messaging, kinds[store.prefix]);
  let view: AvailabilityView | undefined;
  let told: readonly (Told & { readonly way: Way; readonly rails: readonly ServingRail[] })[] = [];
  const operators = ways.operators.map(({ rail: serving, ...operator }) => ({
    serving,
    way: { rail: serving.name, ...operator },
  }));
  const round = async () => {
    const nowMs = clock.nowMs();
    let sample: PaymentSample = { ended: [], open: [], isCut: false };
    try {
      const { fromMs, isSample, ...found } = await readSample(store, nowMs);
      sample = found;
      const times = { from: new Date(fromMs).toISOString(), at: new Date(nowMs).toISOString() };
      const items = operators.map(({ way }) => ({ operatorCode: null, ...way, ...measure(way, found) }));
      told = ways.merchants.map((one) => ({ ...one, ...measureForMerchants(one.way, found) }));
      view = { ...times, isSample, items };
    } finally {
      // Payments that can't be read in time hide no status.
      const rails = operators.map(({ serving, way }) => {
        const status = statusOf([serving], (rail) => isPaused({ rail }));
        return { operatorCode: null, ...way, status, measured: measureForMerchants(way, sample) };
      });
      await publish(rails, clock.nowMs());
    }
    return false;
  };
  const lease = { name: AVAILABILITY_LEASE, owner: messaging.owner };
  await scope.open('lease of availability', {
    [Symbol.asyncDispose]: () => endLease(leasesOf(store.db), lease),
  });
  const loop = startLoop({ name: 'availability', pauseMs: REFRESH_MS, clock, logger, round });
  await scope.open('availability', loop);
  serveOperations(scope.operator, availabilityOperations, {
    show: () => (view ? answer(200, view) : refused('unavailable', 'it is not measured yet: ask again')),
  });
  return (merchantId: string) => {
    if (!view) return undefined;
    const availability = told.map(({ way, rails, ...one }) => ({
      ...way,
      ...viewForMerchants(one, rails, (rail) => isPaused({ rail, merchantId })),
    }));
    return { from: view.from, to: view.at, availability };
  };
}
