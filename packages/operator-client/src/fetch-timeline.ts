import {
  accountOperations,
  breakOperations,
  callbackOperations,
  deliveryOperations,
  type MessagingService,
  type PaymentView,
  paymentOperations,
  type ShownBreakView,
  timelineOperations,
} from '@pesewa/contracts';
import type { Caller } from './call.ts';
import { ClientError, messageOf, RefusedError } from './errors.ts';
import { mergeTimeline, type TimelineLine } from './merge-timeline.ts';
import type { BreakHistory, DeliveryLog, TimelineSources } from './timeline-sources.ts';

/** Everything known about one payment, and what could not be read. */
export interface Timeline extends TimelineSources {
  /** Our reference. */
  readonly reference: string;
  readonly lines: readonly TimelineLine[];
  readonly breaks: readonly FoundBreak[];
}

/** A break as it was found with its payment. */
type FoundBreak = BreakHistory & Pick<ShownBreakView, 'currency' | 'amount' | 'detail' | 'owner' | 'since'>;

const gateways = ['payout-gateway', 'collection-gateway'] as const;

/** How many items of a list are read: a flood of callbacks must not delay an operator. */
const ITEMS_MAX = 500;
const DELIVERIES_MAX = 20;
const BREAKS_MAX = 20;
const ATTEMPTS_PER_PAGE = 100;
const NOT_FOUND = 404;

/** Builds the client of the timelines of payments, put together from what each service shows to operators (ADR 32). */
export function createTimelines(caller: Caller) {
  return {
    /** By our reference, or by a merchant and its reference; fails if no service knows the payment. */
    of: async ({
      reference: wanted,
      merchantId,
    }: {
      readonly reference: string;
      readonly merchantId: string | undefined;
    }): Promise<Timeline> => {
      const gaps = openGaps();
      const found = await (merchantId === undefined
        ? findByOurs(caller, gaps, wanted)
        : findByMerchant(caller, gaps, merchantId, wanted));
      const reference = found?.reference ?? wanted;
      const sources = { payment: found, ...(await readRest(caller, gaps, reference)) };
      const lines = mergeTimeline(sources);
      const { missing, cut } = gaps.known();
      if (lines.length === 0 && missing.length === 0)
        throw new RefusedError(
          `reference: there is nothing about ${wanted}: ours begins with po- or co-`,
          NOT_FOUND,
        );
      return { reference, ...sources, lines, missing, cut };
    },
  };
}

/** Records what could not be read for a timeline. */
type Gaps = ReturnType<typeof openGaps>;

function openGaps() {
  const missing = new Map<MessagingService, string>();
  const cut = new Set<string>();
  return {
    /** The answer; undefined if the service knows nothing, or if it can't be asked, which is recorded. */
    try: async <Value>(
      service: MessagingService,
      asking: () => Promise<Value>,
    ): Promise<Value | undefined> => {
      try {
        return await asking();
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        const isNothing = error instanceof RefusedError && error.status === NOT_FOUND;
        if (!isNothing) missing.set(service, messageOf(error));
        return undefined;
      }
    },
    cutShort: (what: string) => void cut.add(what),
    known: (): Pick<TimelineSources, 'missing' | 'cut'> => ({
      missing: [...missing].map(([service, why]) => ({ service, why })),
      cut: [...cut],
    }),
  };
}

/** The record of a payment by our reference; the reference shows which gateway has it. */
async function findByOurs(caller: Caller, gaps: Gaps, reference: string): Promise<PaymentView | null> {
  const service = reference.startsWith('co-') ? 'collection-gateway' : 'payout-gateway';
  return (await readPayment(caller, gaps, service, { reference })) ?? null;
}

/** The record by the merchant's reference, which may name a payout and a collection. */
async function findByMerchant(
  caller: Caller,
  gaps: Gaps,
  merchant: string,
  reference: string,
): Promise<PaymentView> {
  const asked = { reference, merchant };
  const found = await Promise.all(gateways.map((service) => readPayment(caller, gaps, service, asked)));
  const [first, second] = found.filter((record) => record !== undefined);
  if (first && second) {
    throw new ClientError(
      `reference: ${merchant} has both a payout and a collection ${reference}: ask by ours, ${first.reference} or ${second.reference}`,
    );
  }
  if (first) return first;
  const [gap] = gaps.known().missing;
  if (gap) throw new ClientError(`reference: ${reference} can't be looked up: ${gap.why}`);
  throw new ClientError(
    `reference: ${merchant} has no payment ${reference}, neither by its own reference nor by ours: see pesewa payments list payouts --merchant ${merchant}, and the same with collections; the ids of merchants are in pesewa merchants list`,
  );
}

function readPayment(
  { call }: Caller,
  gaps: Gaps,
  service: (typeof gateways)[number],
  query: { readonly reference: string; readonly merchant?: string },
): Promise<PaymentView | undefined> {
  return gaps.try(service, () => call(service, paymentOperations.show, { query }));
}

/** The answers of all services except the gateway, asked at once. */
async function readRest(caller: Caller, gaps: Gaps, reference: string) {
  const query = { reference };
  const whole = async <Item>(
    service: MessagingService,
    what: string,
    reading: () => Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }>,
  ): Promise<readonly Item[]> => {
    const found = await gaps.try(service, reading);
    if (found?.hasMore) gaps.cutShort(what);
    return found?.items ?? [];
  };
  const { call, list } = caller;
  const [callbacks, seen, listed, entries, deliveries] = await Promise.all([
    whole('webhook-ingress', 'callbacks', () =>
      list('webhook-ingress', callbackOperations.list, query, ITEMS_MAX),
    ),
    gaps.try('reconciler', () => call('reconciler', timelineOperations.show, { query })),
    whole('reconciler', 'breaks', () => list('reconciler', breakOperations.list, query, BREAKS_MAX)),
    whole('ledger', 'entries', () => list('ledger', accountOperations.entries, query, ITEMS_MAX)),
    whole('webhook-dispatcher', 'deliveries', () =>
      list('webhook-dispatcher', deliveryOperations.list, query, ITEMS_MAX),
    ),
  ]);
  const ids = listed.map(({ id }) => id);
  return {
    callbacks,
    reconciliation: seen ?? null,
    breaks: await readHistories(caller, gaps, ids),
    entries,
    deliveries: await readAttempts(
      caller,
      gaps,
      // A webhook of another merchant's payment with the same reference is left out.
      deliveries.filter((found) => found.reference === reference),
    ),
  };
}

/** The history of each break. */
async function readHistories(
  { call }: Caller,
  gaps: Gaps,
  ids: readonly string[],
): Promise<Timeline['breaks']> {
  const read = ids.map(async (id) => {
    const whole = await gaps.try('reconciler', () =>
      call('reconciler', breakOperations.show, { parameters: { id } }),
    );
    if (!whole) return undefined;
    const { kind, status, currency, amount, detail, owner, since, history } = whole;
    const shown = { id, kind, status, currency, amount, detail, owner, since };
    const lines = history.map(({ at, by, what, text }) => {
      return { at, by, what, text: what.startsWith('decision ') ? text : null };
    });
    return { ...shown, history: lines };
  });
  return (await Promise.all(read)).filter((one) => one !== undefined);
}

/** The attempts of each webhook. */
async function readAttempts(
  { call }: Caller,
  gaps: Gaps,
  deliveries: readonly Omit<DeliveryLog, 'attempts'>[],
): Promise<readonly DeliveryLog[]> {
  const service = 'webhook-dispatcher';
  if (deliveries.length > DELIVERIES_MAX) gaps.cutShort('deliveries');
  return Promise.all(
    deliveries.slice(0, DELIVERIES_MAX).map(async (found) => {
      const page = await gaps.try(service, () =>
        call(service, deliveryOperations.attempts, { parameters: { id: found.id } }),
      );
      const attempts = page?.items ?? [];
      if (attempts.length >= ATTEMPTS_PER_PAGE) gaps.cutShort(`attempts of ${found.id}`);
      return { ...found, attempts };
    }),
  );
}
