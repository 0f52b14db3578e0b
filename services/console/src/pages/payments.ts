import { paymentOperations, paymentStatuses } from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, filters } from '../view/form.ts';
import { foreign, type Html, link, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { pager, table } from '../view/table.ts';
import { age, amount, readTime, state } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';

const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const;

/** Adds the list of payouts or collections, by merchant, status and time. */
export function addPaymentsPage(routes: Routes): void {
  routes.page('/payments', showPayments);
}

async function showPayments(visit: Visit): Promise<Page> {
  const of = visit.query('of') === 'collections' ? 'collections' : 'payouts';
  const field = (name: string, label: string) => ({ name, label, value: visit.query(name), maxLength: 64 });
  const form = filters({
    action: '/payments',
    label: 'Which payments',
    fields: [
      choiceField(['of', 'Kind'], Object.keys(gateways), of),
      field('merchant', 'Merchant'),
      choiceField(['status', 'State'], paymentStatuses, visit.query('status'), 'any'),
      field('from', 'From, such as 27/11/2026 14:05'),
      field('to', `Before, in ${visit.times.zone}`),
    ],
  });
  const title = of === 'payouts' ? 'Payouts' : 'Collections';
  const list = await part(listOf(visit, of));
  return { title, body: section('Newest first', [form, list]), everySeconds: 30 };
}

async function listOf(visit: Visit, of: keyof typeof gateways): Promise<Html> {
  const { query, times, upstream } = visit;
  const moment = (name: string) => {
    const text = query(name);
    const at = text && readTime(text, times.zone);
    if (at === undefined && text !== undefined)
      throw new RefusedError(`${name}: ${text} is no time: write 27/11/2026 or 27/11/2026 14:05:09`, 422);
    return at;
  };
  const [merchant, after] = [query('merchant'), query('after')];
  // Its gateway refuses any other.
  const status = query('status') as (typeof paymentStatuses)[number] | undefined;
  const asked = { merchant, status, from: moment('from'), to: moment('to'), after };
  const { items, next } = await upstream.call(gateways[of], paymentOperations.list, { query: asked });
  const number = (title: string) => ({ title, isNumber: true }) as const;
  const isNarrowed = Object.values(asked).some((value) => value !== undefined);
  const shown = table({
    caption: 'By when they were accepted; archived ones are not among them',
    columns: [
      'Reference',
      'State',
      number('Amount'),
      number('Fee'),
      'Merchant',
      "Merchant's reference",
      'Rail',
      'Accepted',
    ],
    rows: items.map(({ reference, merchantId, currency, rail, ...one }) => {
      const path = pathOf(['payments', reference]);
      return [
        link(path, html`<code>${reference}</code>`),
        html`${state(one.status)} ${one.step !== 'ended' && inWords(one.step)}`,
        amount(one.amount, currency, path),
        amount(one.fee, currency, path),
        link(pathOf(['merchants', merchantId]), foreign(merchantId)),
        foreign(one.merchantReference),
        link(pathOf(['rails', rail]), rail),
        html`${age(one.acceptedAt, times)} ago`,
      ];
    }),
    empty: isNarrowed
      ? html`Nothing matches. ${link(pathOf(['payments'], { of }), 'Clear the filters')}`
      : html`No ${of} yet: as soon as a merchant asks for one, it stands here.`,
  });
  const kept = { of, merchant, status, from: query('from'), to: query('to') };
  const pathAfter = (cursor: string | undefined) => pathOf(['payments'], { ...kept, after: cursor });
  return html`${shown}${pager({ next, pathAfter, isFirst: after === undefined })}`;
}
