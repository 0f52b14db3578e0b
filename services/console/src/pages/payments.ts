import { paymentOperations, paymentStatuses } from '@pesewa/contracts';
import { html } from 'hono/html';
import { choiceField } from '../view/form.ts';
import { foreign, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { listOf, tabs } from '../view/table.ts';
import { age, amount, state } from '../view/values.ts';
import type { Routes, Visit } from '../visits.ts';
import { gateways } from './pauses.ts';
import { stepText } from './payment.ts';

const titles = { payouts: 'Payouts', collections: 'Collections' } as const;
const states = ['open', ...paymentStatuses] as const;

/** Adds the list of payouts or collections, by merchant, status and time. */
export function addPaymentsPage(routes: Routes): void {
  routes.page('/payments', showPayments);
}

async function showPayments(visit: Visit): Promise<Page> {
  const { query, times, upstream } = visit;
  const of = query('of') === 'collections' ? 'collections' : 'payouts';
  const field = (name: string, label: string) => ({ name, label, maxLength: 64 });
  const named = states.find((one) => one === query('status'));
  const list = await listOf(visit, {
    path: ['payments'],
    caption: 'The newest first, by when they were accepted',
    fields: [
      choiceField('status', 'State', states, 'any'),
      field('merchant', 'Merchant'),
      field('merchantReference', "Merchant's reference"),
      field('rail', 'Rail'),
      ...(of === 'collections' ? [field('operator', 'Mobile operator')] : []),
      field('from', 'From, such as 27/11/2026 14:05'),
      field('to', `Before, in ${times.zone}`),
    ],
    kept: ['of'],
    read: (after, { operator: operatorCode, ...asked }) => {
      const inState = named === 'open' ? ({ open: 'true', status: undefined } as const) : { status: named };
      const narrowed = { ...asked, operatorCode, ...inState, after };
      return upstream.call(gateways[of], paymentOperations.list, { query: narrowed });
    },
    columns: [
      ['Reference', ({ reference }) => linkTo('payment', reference, html`<code>${reference}</code>`)],
      ['State', ({ status, step }) => html`${state(status)} ${step !== 'ended' && stepText(step)}`],
      [
        'Amount',
        ({ reference, amount: sum, currency }) => amount(sum, currency, pathTo('payment', reference)),
        'number',
      ],
      [
        'Fee',
        ({ reference, fee, currency }) => amount(fee, currency, pathTo('payment', reference)),
        'number',
      ],
      ['Merchant', ({ merchantId }) => linkTo('merchant', merchantId)],
      ["Merchant's reference", ({ merchantReference }) => foreign(merchantReference)],
      ['Rail', ({ rail }) => linkTo('rail', rail)],
      ['Accepted', ({ acceptedAt }) => html`${age(acceptedAt, times)} ago`],
    ],
    empty: `No ${of} yet: as soon as a merchant asks for one, it stands here.`,
  });
  const kinds = Object.entries(titles).map(
    ([one, title]) => [pathOf(['payments'], { of: one }), title, one === of] as const,
  );
  const body = html`${tabs('Kinds', kinds)}${section(titles[of], list)}`;
  return { title: 'Payments', body, everySeconds: 30 };
}
