import { z } from 'zod';
import type { Ask } from './ask.ts';
import { CliError } from './errors.ts';
import { readPages } from './pages.ts';
import type { CliPorts } from './ports.ts';

/** The kinds of orders, as in the ledger's paths. */
export type OrderKind = 'fund' | 'fund-float' | 'withdraw' | 'withdraw-float' | 'adjust' | 'suspense';

/** The statuses of orders, in the order in which an order passes through them. */
export const orderStatuses = ['proposed', 'approved', 'rejected', 'applied', 'refused'] as const;

const order = z.object({
  commandId: z.string(),
  kind: z.string(),
  merchantId: z.string().optional(),
  rail: z.string().optional(),
  currency: z.string(),
  amount: z.string(),
  direction: z.string().optional(),
  reason: z.string().optional(),
  status: z.enum(orderStatuses),
  requestedBy: z.string(),
  requestedAt: z.string(),
  expiresAt: z.string().optional(),
  approvedBy: z.string().optional(),
  approvedAt: z.string().optional(),
  rejectedBy: z.string().optional(),
  rejectedAt: z.string().optional(),
  rejectedFor: z.string().optional(),
  appliedAt: z.string().optional(),
  refusedFor: z.string().optional(),
});

/** An order as the ledger shows it: amounts in decimal text, times in UTC. */
export type OrderView = z.output<typeof order>;

/** A proposal: the path of its kind, and the body. */
export interface Proposal {
  readonly kind: OrderKind;
  readonly body: Readonly<Record<string, string>> & { readonly commandId: string };
}

/** The orders of the ledger (ADR 17): proposed by one operator, approved by another. */
export interface Orders {
  readonly propose: (proposal: Proposal) => Promise<OrderView>;
  readonly approve: (commandId: string) => Promise<OrderView>;
  readonly reject: (commandId: string, reason: string) => Promise<OrderView>;
  readonly show: (commandId: string) => Promise<OrderView>;
  /** The newest first, at most `limit`. */
  readonly list: (query: {
    readonly status: OrderView['status'] | undefined;
    readonly limit: number;
  }) => Promise<readonly OrderView[]>;
  /** Resolves once the ledger has applied or refused the approved order. */
  readonly ended: (commandId: string) => Promise<OrderView>;
}

const ENDED_TIMEOUT_MS = 30_000;
const PAUSE_MS = 150;

/** Builds {@link Orders}. */
export function createOrders(ports: Pick<CliPorts, 'clock' | 'progress'>, ask: Ask): Orders {
  const path = (commandId: string) => `/commands/${encodeURIComponent(commandId)}`;
  const show = (commandId: string) => ask(order, { service: 'ledgerUrl', path: path(commandId) });
  return {
    propose: ({ kind, body }) => ask(order, { service: 'ledgerUrl', path: `/commands/${kind}`, body }),
    approve: (commandId) =>
      ask(order, { service: 'ledgerUrl', path: `${path(commandId)}/approve`, body: {}, approving: true }),
    reject: (commandId, reason) =>
      ask(order, { service: 'ledgerUrl', path: `${path(commandId)}/reject`, body: { reason } }),
    show,
    list: ({ status, limit }) =>
      readPages(ask, order, { service: 'ledgerUrl', path: '/commands', query: { status }, limit }),
    ended: async (commandId) => {
      const startMs = ports.clock.nowMs();
      try {
        for (;;) {
          const seen = await show(commandId);
          if (seen.status !== 'approved') return seen;
          const waitedMs = ports.clock.nowMs() - startMs;
          if (waitedMs > ENDED_TIMEOUT_MS) {
            throw new CliError(
              `${commandId} is approved but not applied yet: the ledger will; look with pesewa orders show ${commandId}`,
            );
          }
          ports.progress(
            `${commandId} is approved, the ledger applies it … ${Math.floor(waitedMs / 1000)} s`,
          );
          await ports.clock.sleep(PAUSE_MS);
        }
      } finally {
        ports.progress('');
      }
    },
  };
}

/** What an order does, such as `2500 GHS into the wallet of demo`. */
export function describeOrder(
  view: Pick<OrderView, 'kind' | 'merchantId' | 'rail' | 'direction' | 'amount' | 'currency'>,
): string {
  const { kind, direction, amount, currency } = view;
  const account =
    view.merchantId === undefined
      ? `the ${currency} float at ${view.rail ?? '?'}`
      : `the ${currency} wallet of ${view.merchantId}`;
  const money = `${amount} ${currency}`;
  switch (kind) {
    case 'fund':
    case 'fund-float':
      return `${money} from the treasury into ${account}`;
    case 'withdraw':
    case 'withdraw-float':
      return `${money} out of ${account} to the treasury`;
    case 'adjust':
      return direction === 'debit'
        ? `${money} out of ${account} to suspense`
        : `${money} from suspense into ${account}`;
    case 'suspense':
      return direction === 'shortage'
        ? `${money} that the rail lacks, from suspense out of ${account}`
        : `${money} that nothing explains, into ${account} and suspense`;
    default:
      return `${kind} ${money}: ${account}`;
  }
}
