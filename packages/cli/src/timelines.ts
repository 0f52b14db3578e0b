import { z } from 'zod';
import type { Ask, ServiceAddress } from './ask.ts';
import { callback } from './callbacks.ts';
import { CliError, messageOf, RefusedError } from './errors.ts';
import { mergeTimeline, type TimelineLine } from './timeline.ts';
import {
  type BreakHistory,
  breakHistory,
  type DeliveryLog,
  delivery,
  entry,
  listedBreak,
  type PaymentView,
  payment,
  reconciliation,
  type TimelineSources,
  webhookAttempt,
} from './timeline-sources.ts';

/** Everything known about one payment, and what could not be read. */
export interface Timeline extends Omit<TimelineSources, 'callbacks' | 'entries' | 'deliveries'> {
  /** Our reference. */
  readonly reference: string;
  readonly lines: readonly TimelineLine[];
}

/** The timelines of payments, put together from what each service shows to operators (ADR 32). */
export interface Timelines {
  /** By our reference, or by a merchant and its reference; fails if no service knows the payment. */
  readonly of: (query: {
    readonly reference: string;
    readonly merchantId: string | undefined;
  }) => Promise<Timeline>;
}

const gateways = {
  payout: 'payoutGatewayUrl',
  collection: 'collectionGatewayUrl',
} as const satisfies Record<string, ServiceAddress>;

const serviceNames: Readonly<Record<ServiceAddress, string>> = {
  payoutGatewayUrl: 'payout-gateway',
  collectionGatewayUrl: 'collection-gateway',
  ledgerUrl: 'ledger',
  reconcilerUrl: 'reconciler',
  webhookIngressUrl: 'webhook-ingress',
  webhookDispatcherUrl: 'webhook-dispatcher',
};

/** How many pages of a list are read: a flood of callbacks must not delay an operator. */
const PAGES_MAX = 5;
const DELIVERIES_MAX = 20;
const BREAKS_MAX = 20;
const ATTEMPTS_PER_PAGE = 100;
const NOT_FOUND = 404;

/** Builds {@link Timelines}. */
export function createTimelines(ask: Ask): Timelines {
  return {
    of: async ({ reference: wanted, merchantId }) => {
      const gaps = openGaps();
      const found = await (merchantId === undefined
        ? findByOurs(ask, gaps, wanted)
        : findByMerchant(ask, gaps, merchantId, wanted));
      const reference = found?.reference ?? wanted;
      const sources = { payment: found, ...(await readRest(ask, gaps, reference)) };
      const lines = mergeTimeline(sources);
      const { missing, cut } = gaps.known();
      if (lines.length === 0 && missing.length === 0)
        throw new CliError(`reference: there is nothing about ${wanted}: ours begins with po- or co-`);
      return {
        reference,
        payment: sources.payment,
        reconciliation: sources.reconciliation,
        breaks: sources.breaks,
        lines,
        missing,
        cut,
      };
    },
  };
}

/** Records what could not be read for a timeline. */
interface Gaps {
  /** The answer; undefined if the service knows nothing, or if it can't be asked, which is recorded. */
  readonly try: <Value>(service: ServiceAddress, asking: () => Promise<Value>) => Promise<Value | undefined>;
  readonly cutShort: (what: string) => void;
  readonly known: () => Pick<TimelineSources, 'missing' | 'cut'>;
}

function openGaps(): Gaps {
  const missing = new Map<string, string>();
  const cut = new Set<string>();
  return {
    try: async (service, asking) => {
      try {
        return await asking();
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        const isNothing = error instanceof RefusedError && error.status === NOT_FOUND;
        if (!isNothing) missing.set(serviceNames[service], messageOf(error));
        return undefined;
      }
    },
    cutShort: (what) => void cut.add(what),
    known: () => ({
      missing: [...missing].map(([service, why]) => ({ service, why })),
      cut: [...cut],
    }),
  };
}

/** The record of a payment by our reference; the reference shows which gateway has it. */
async function findByOurs(ask: Ask, gaps: Gaps, reference: string): Promise<PaymentView | null> {
  const service = reference.startsWith('co-') ? gateways.collection : gateways.payout;
  return (await readPayment(ask, gaps, service, { reference })) ?? null;
}

/** The record by the merchant's reference, which may name a payout and a collection. */
async function findByMerchant(
  ask: Ask,
  gaps: Gaps,
  merchant: string,
  reference: string,
): Promise<PaymentView> {
  const asked = { reference, merchant };
  const found = await Promise.all(
    Object.values(gateways).map((service) => readPayment(ask, gaps, service, asked)),
  );
  const [first, second] = found.filter((record) => record !== undefined);
  if (first && second) {
    throw new CliError(
      `reference: ${merchant} has both a payout and a collection ${reference}: ask by ours, ${first.reference} or ${second.reference}`,
    );
  }
  if (first) return first;
  const [gap] = gaps.known().missing;
  if (gap) throw new CliError(`reference: ${reference} can't be looked up: ${gap.why}`);
  throw new CliError(`reference: ${merchant} has no payment ${reference}: see merchants list for its id`);
}

function readPayment(
  ask: Ask,
  gaps: Gaps,
  service: ServiceAddress,
  query: Readonly<Record<string, string>>,
): Promise<PaymentView | undefined> {
  const path = `/payments?${new URLSearchParams(query).toString()}`;
  return gaps.try(service, () => ask(payment, { service, path }));
}

/** The answers of all services except the gateway, asked at once. */
async function readRest(ask: Ask, gaps: Gaps, reference: string) {
  const about = `reference=${encodeURIComponent(reference)}`;
  const pages = <Item extends z.ZodType>(service: ServiceAddress, what: string, item: Item, by: string) =>
    readPages(ask, gaps, { service, what, item, path: `/${what}?${about}`, by });
  const [callbacks, seen, listed, entries, deliveries] = await Promise.all([
    pages('webhookIngressUrl', 'callbacks', callback, 'after'),
    gaps.try('reconcilerUrl', () =>
      ask(reconciliation, { service: 'reconcilerUrl', path: `/timeline?${about}` }),
    ),
    pages('reconcilerUrl', 'breaks', listedBreak, 'cursor'),
    pages('ledgerUrl', 'entries', entry, 'cursor'),
    pages('webhookDispatcherUrl', 'deliveries', delivery, 'after'),
  ]);
  return {
    callbacks,
    reconciliation: seen ?? null,
    breaks: await readHistories(ask, gaps, listed),
    entries,
    deliveries: await readAttempts(ask, gaps, deliveries, reference),
  };
}

/** Follows the pages of a list up to a limit; reaching it is recorded. */
async function readPages<Item extends z.ZodType>(
  ask: Ask,
  gaps: Gaps,
  list: {
    readonly service: ServiceAddress;
    readonly what: string;
    readonly item: Item;
    readonly path: string;
    /** The query parameter that takes the cursor of the next page. */
    readonly by: string;
  },
): Promise<readonly z.output<Item>[]> {
  const { service, path, by } = list;
  const page = z.object({ items: z.array(list.item), next: z.string().nullable() });
  const items: z.output<Item>[] = [];
  let next: string | null = '';
  for (let read = 0; read < PAGES_MAX && next !== null; read += 1) {
    const at: string = next === '' ? path : `${path}&${by}=${encodeURIComponent(next)}`;
    const found: z.output<typeof page> | undefined = await gaps.try(service, () =>
      ask(page, { service, path: at }),
    );
    items.push(...(found?.items ?? []));
    next = found?.next ?? null;
  }
  if (next !== null) gaps.cutShort(list.what);
  return items;
}

/** The history of each break. */
async function readHistories(
  ask: Ask,
  gaps: Gaps,
  listed: readonly z.output<typeof listedBreak>[],
): Promise<readonly BreakHistory[]> {
  const service = 'reconcilerUrl';
  if (listed.length > BREAKS_MAX) gaps.cutShort('breaks');
  const read = listed.slice(0, BREAKS_MAX).map(({ id }) => {
    const path = `/breaks/${encodeURIComponent(id)}`;
    return gaps.try(service, () => ask(breakHistory, { service, path }));
  });
  return (await Promise.all(read)).filter((one) => one !== undefined);
}

/** The attempts of each webhook; webhooks of other merchants' payments with the same reference are left out. */
async function readAttempts(
  ask: Ask,
  gaps: Gaps,
  deliveries: readonly z.output<typeof delivery>[],
  reference: string,
): Promise<readonly DeliveryLog[]> {
  const service = 'webhookDispatcherUrl';
  const page = z.object({ items: z.array(webhookAttempt) });
  const own = deliveries.filter((found) => found.reference === reference);
  if (own.length > DELIVERIES_MAX) gaps.cutShort('deliveries');
  return Promise.all(
    own.slice(0, DELIVERIES_MAX).map(async (found) => {
      const path = `/deliveries/${encodeURIComponent(found.id)}/attempts`;
      const attempts = (await gaps.try(service, () => ask(page, { service, path })))?.items ?? [];
      if (attempts.length >= ATTEMPTS_PER_PAGE) gaps.cutShort(`attempts of ${found.id}`);
      return { ...found, attempts };
    }),
  );
}
