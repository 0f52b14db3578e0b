import {
  accountOperations,
  breakOperations,
  type ChangeView,
  type DecisionView,
  decisionOperations,
  type OrderView,
  orderOperations,
  settingsOperations,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import {
  consequenceOf,
  describeMovement,
  describeOrder,
  groundsOf,
  inWords,
  ordersFor,
  whyTwice,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { amount, time, words } from '../view/values.ts';
import { orMissing, part, type Visit } from '../visits.ts';
import { fieldChanges } from './merchants.ts';
import { accountOf, effectOf, requestFor } from './order.ts';

type Course = Omit<
  OrderView,
  'commandId' | 'kind' | 'currency' | 'amount' | 'merchantId' | 'rail' | 'direction' | 'reason'
>;

/** What one operator proposes and another decides on a page of its own, whatever it changes. */
export interface Proposal extends Course {
  readonly path: string;
  /** What it does, in one line. */
  readonly what: string;
  readonly why: string | undefined;
  /** From what to what it changes things, or has changed them, with links to them. */
  readonly changes: (visit: Visit) => Html | Promise<Html>;
}

/** The proposals of one kind: how they are found, shown and decided, and which rule asks for two people. */
function kindOf<View>(
  service: 'ledger' | 'reconciler',
  operations: typeof orderOperations | typeof decisionOperations | typeof settingsOperations,
  of: (view: View) => Proposal,
  texts: { readonly noun: string; readonly title: string; readonly rule: string },
) {
  // All three are called in the same way; one names its id otherwise.
  const { list, show, approve, reject } = operations as typeof decisionOperations;
  const about = (id: string) => ({ parameters: { id, commandId: id } });
  return {
    ...texts,
    list: async (
      { upstream }: Visit,
      query: { readonly status?: 'proposed'; readonly cursor?: string | undefined },
    ) => {
      const { items, next } = await upstream.call(service, list, { query });
      return { items: items.map((one) => of(one as View)), next };
    },
    show: async ({ upstream }: Visit, id: string) =>
      of((await upstream.call(service, show, about(id))) as View),
    approve: ({ upstream }: Visit, id: string) => upstream.call(service, approve, about(id)),
    reject: ({ upstream }: Visit, id: string, reason: string) =>
      upstream.call(service, reject, { ...about(id), body: { reason } }),
  };
}

function ofOrder(order: OrderView): Proposal {
  const { commandId, status, reason } = order;
  return {
    ...order,
    path: pathTo('order', commandId),
    what: describeOrder(order),
    why: reason,
    changes: async (visit) => {
      const shown =
        status === 'proposed'
          ? (await effectOf(visit, requestFor(order))).shown
          : await hasChanged(visit, order);
      return html`${shown}${await part(correctedBreak(visit, order))}`;
    },
  };
}

/** The entry that an order has made, and the balance of its account before and after it. */
async function hasChanged({ upstream, times }: Visit, order: OrderView): Promise<Html> {
  const { commandId: reference, status, currency } = order;
  if (status !== 'applied')
    return html`<p>${status === 'approved' ? 'It is being booked.' : 'It moved no money.'}</p>`;
  const { items } = await upstream.call('ledger', accountOperations.entries, { query: { reference } });
  const shown = items.map(async (entry) => {
    const to = new Date(Date.parse(entry.at) + 1).toISOString();
    const query = { account: accountOf(requestFor(order)), from: entry.at, to };
    const { opening, closing } = await upstream.call('ledger', accountOperations.statement, { query });
    const path = pathTo('account', query.account, { from: entry.at, to });
    const [name = ''] = Object.keys(opening);
    return facts([
      ['Entry', html`${link(path, describeMovement(entry))}, ${time(entry.at, times)}`],
      ['Before', amount(opening[name], currency, path)],
      ['After', amount(closing[name], currency, path)],
    ]);
  });
  return shown.length === 0 ? html`<p>The ledger has no entry of it.</p>` : html`${shown}`;
}

/** The break that an order corrects; if it is resolved already, or has another order, that is a reason not to approve it. */
async function correctedBreak({ upstream, times }: Visit, order: OrderView): Promise<Html> {
  const { breakId: id, status } = order;
  if (id === undefined) return nothing;
  const found = await orMissing(upstream.call('reconciler', breakOperations.show, { parameters: { id } }));
  if (!found) return html`<p class="problem">It names the break ${foreign(id)}, which is not known.</p>`;
  const why =
    status === 'proposed' ? whyTwice(found, await ordersFor(upstream, found), order, times.nowMs) : undefined;
  return html`${why === undefined ? nothing : html`<p class="problem">${why}</p>`}<p>${linkTo('break', id, 'The break that it corrects')}</p>`;
}

function ofDecision(decision: DecisionView): Proposal {
  const { id, reference, amount: sum, currency, outcome, note, breakId, status } = decision;
  const money = displayAmount(sum, currency);
  return {
    ...decision,
    path: pathTo('decision', id),
    what: outcome === undefined ? `${reference} received ${money}` : `${reference} of ${money} ${outcome}`,
    why: note,
    changes: ({
      times,
    }) => html`${facts(groundsOf(decision).map(([name, value]) => [name, words(value, times)]))}
${outcome === undefined || status !== 'proposed' ? nothing : html`<p class="problem">${consequenceOf(decision)}</p>`}
<p>${linkTo('payment', reference, 'The payment')} · ${linkTo('break', breakId, 'Its break')}</p>`,
  };
}

function ofChange(change: ChangeView): Proposal {
  const { id, merchantId, kind, fields, reason } = change;
  return {
    ...change,
    path: pathTo('setting', id),
    what: `${inWords(kind)} of ${merchantId}`,
    why: reason,
    changes: ({ times }) =>
      html`${fieldChanges(fields, times)}<p>${linkTo('merchant', merchantId, `The settings of ${merchantId}`)}</p>`,
  };
}

/** Every kind of proposal with a page of its own. */
export const proposalKinds = {
  orders: kindOf('ledger', orderOperations, ofOrder, {
    noun: 'order',
    title: 'Orders of money',
    rule: 'money moves by an order only if two operators want it.',
  }),
  decisions: kindOf('reconciler', decisionOperations, ofDecision, {
    noun: 'decision',
    title: 'Decisions on payments',
    rule: 'how a payment ended, or what its customer paid, is decided by two operators.',
  }),
  settings: kindOf('ledger', settingsOperations, ofChange, {
    noun: 'change of settings',
    title: "Changes of merchants' settings",
    rule: 'a change that could cost money takes two operators; what only stops harm applies at once.',
  }),
} as const;

/** The name of one, as in addresses. */
export type KindName = keyof typeof proposalKinds;
