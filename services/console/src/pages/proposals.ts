import {
  type ChangeView,
  type DecisionView,
  decisionOperations,
  type OrderView,
  orderOperations,
  settingsOperations,
} from '@pesewa/contracts';
import { displayAmount, parseAmount } from '@pesewa/kernel';
import {
  consequenceOf,
  describeOrder,
  foreseeOrder,
  groundsOf,
  inWords,
  settingLabel,
  settingText,
  takesAway,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { facts, table } from '../view/table.ts';
import type { Visit } from '../visits.ts';
import { linesOf } from './break-adjustment.ts';
import { breakPath } from './breaks.ts';

/** What one operator proposes and another decides, whatever it changes. */
export interface Proposal
  extends Pick<
    OrderView,
    | 'requestedBy'
    | 'requestedAt'
    | 'expiresAt'
    | 'approvedBy'
    | 'approvedAt'
    | 'rejectedBy'
    | 'rejectedAt'
    | 'rejectedFor'
    | 'appliedAt'
    | 'refusedFor'
  > {
  readonly id: string;
  /** What it does, in one line. */
  readonly what: string;
  readonly status: OrderView['status'];
  readonly why: string | undefined;
  /** From what to what it changes things, with links to them. */
  readonly changes: (visit: Visit) => Html | Promise<Html>;
}

/** The proposals of one kind: how they are found, shown and decided. */
export interface ProposalKind {
  readonly noun: string;
  readonly title: string;
  /** Which rule asks for two people. */
  readonly rule: string;
  readonly list: (
    visit: Visit,
    query: { readonly status?: 'proposed'; readonly cursor: string | undefined },
  ) => Promise<{ readonly items: readonly Proposal[]; readonly next: string | null }>;
  readonly show: (visit: Visit, id: string) => Promise<Proposal>;
  readonly approve: (visit: Visit, id: string) => Promise<unknown>;
  readonly reject: (visit: Visit, id: string, reason: string) => Promise<unknown>;
}

interface Served<View> extends Pick<ProposalKind, 'noun' | 'title' | 'rule'> {
  readonly service: 'ledger' | 'reconciler';
  readonly operations: typeof orderOperations | typeof decisionOperations | typeof settingsOperations;
  readonly of: (view: View) => Proposal;
}

function kindOf<View>({ service, operations, of, ...words }: Served<View>): ProposalKind {
  // All three are called in the same way; one names its id otherwise.
  const { list, show, approve, reject } = operations as typeof decisionOperations;
  const about = (id: string) => ({ parameters: { id, commandId: id } });
  return {
    ...words,
    list: async ({ upstream }, query) => {
      const { items, next } = await upstream.call(service, list, { query });
      return { items: items.map((one) => of(one as View)), next };
    },
    show: async ({ upstream }, id) => of((await upstream.call(service, show, about(id))) as View),
    approve: ({ upstream }, id) => upstream.call(service, approve, about(id)),
    reject: ({ upstream }, id, reason) =>
      upstream.call(service, reject, { ...about(id), ...(reason !== '' && { body: { reason } }) }),
  };
}

function ofOrder(order: OrderView): Proposal {
  const { commandId, status, merchantId, rail = '', currency, kind, reason } = order;
  const account = merchantId === undefined ? { rail } : { merchantId };
  const name = merchantId === undefined ? `float:${rail}` : `wallet:${merchantId}`;
  const id = / \(break (.+)\)$/.exec(reason ?? '')?.[1];
  const links = html`<p>${link(pathOf(['ledger', 'accounts', `${name}:${currency}`]), 'The account')}${id === undefined ? nothing : html` · ${link(breakPath(id), 'The break that it corrects')}`} · ${link(pathOf(['search'], { q: commandId }), 'What it booked')}</p>`;
  return {
    ...order,
    id: commandId,
    what: describeOrder(order),
    why: reason,
    changes: async ({ upstream }) => {
      const sum = parseAmount(order.amount, currency);
      if (status !== 'proposed' || !sum.ok) return links;
      const change = takesAway(order) ? -sum.value.minor : sum.value.minor;
      const { lines } = await foreseeOrder(upstream, {
        kind,
        account,
        currency,
        amount: order.amount,
        change,
      });
      return html`${linesOf(lines)}${links}`;
    },
  };
}

function ofDecision(decision: DecisionView): Proposal {
  const { reference, amount, currency, outcome, note, breakId } = decision;
  const money = displayAmount(amount, currency);
  return {
    ...decision,
    what: outcome === undefined ? `${reference} received ${money}` : `${reference} of ${money} ${outcome}`,
    why: note,
    changes: () => html`${facts(groundsOf(decision).map(([name, value]) => [name, foreign(value)]))}
${outcome === undefined ? nothing : html`<p class="problem">${consequenceOf(decision)}</p>`}
<p>${link(pathOf(['payments', reference]), 'The payment')} · ${link(breakPath(breakId), 'Its break')}</p>`,
  };
}

function ofChange(change: ChangeView): Proposal {
  const { merchantId, kind, fields, reason } = change;
  const text = (value: string | null, of: { readonly field: string; readonly currency: string | null }) =>
    value === null ? 'none' : foreign(settingText({ ...of, value }));
  return {
    ...change,
    what: `${inWords(kind)} of ${merchantId}`,
    why: reason,
    changes: () =>
      html`${table({
        caption: 'From what to what',
        columns: ['Setting', 'From', 'To'],
        rows: fields.map(({ from, to, ...of }) => [settingLabel(of.field), text(from, of), text(to, of)]),
        empty: 'It changes nothing.',
      })}<p>${link(pathOf(['merchants', merchantId]), `The settings of ${merchantId}`)}</p>`,
  };
}

/** Every kind of proposal with a page of its own. */
export const proposalKinds = {
  orders: kindOf({
    noun: 'order',
    title: 'Orders of money',
    rule: 'money moves by an order only if two operators want it.',
    service: 'ledger',
    operations: orderOperations,
    of: ofOrder,
  }),
  decisions: kindOf({
    noun: 'decision',
    title: 'Decisions on payments',
    rule: 'how a payment ended, or what its customer paid, is decided by two operators.',
    service: 'reconciler',
    operations: decisionOperations,
    of: ofDecision,
  }),
  settings: kindOf({
    noun: 'change of settings',
    title: "Changes of merchants' settings",
    rule: 'a change that could cost money takes two operators; what only stops harm applies at once.',
    service: 'ledger',
    operations: settingsOperations,
    of: ofChange,
  }),
} as const;

/** The name of one, as in addresses. */
export type KindName = keyof typeof proposalKinds;
