import {
  breakOperations,
  comparisonOperations,
  decisionOperations,
  deliveryOperations,
  type MessagingService,
  type Operation,
  orderOperations,
  paymentOperations,
  railStatementOperations,
  settingsOperations,
} from '@pesewa/contracts';
import { isId } from '@pesewa/kernel';
import { ClientError, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters } from '../view/form.ts';
import { type Content, foreign, link } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { pathTo, type Subject } from '../view/links.ts';
import type { Routes, Shown, Visit } from '../visits.ts';

type Call = Visit['upstream']['call'];

/** Pages by their paths, with what they are about. */
type Hits = readonly (readonly [path: string, what: string])[];

const ACCOUNT = /^((wallet|float):[^:]+|feeIncome|railCost|treasury|suspense):[A-Z]{3}$/;
const LISTED_MAX = 20;
const BATCH_SHOWN = 20;
const BATCH_LASTS_MS = 2_000;

/** What an id may be of, and the question that is refused if there is none. */
const ids: readonly (readonly [name: string, subject: Subject, MessagingService, Operation])[] = [
  ['break', 'break', 'reconciler', breakOperations.show],
  ['order of money', 'order', 'ledger', orderOperations.show],
  ['decision', 'decision', 'reconciler', decisionOperations.show],
  ['change of settings', 'setting', 'ledger', settingsOperations.show],
  ['statement of a rail', 'statement', 'reconciler', railStatementOperations.show],
  ['webhook', 'delivery', 'webhook-dispatcher', deliveryOperations.show],
];

/** Adds the search by any reference or id. */
export function addSearchPage(routes: Routes): void {
  routes.page('/search', search);
}

async function search({ query, upstream: { call } }: Visit): Promise<Shown> {
  const text = query('q');
  const fields = [{ name: 'q', label: 'Reference, name or id', maxLength: 200, type: 'search' }] as const;
  const page = (...body: readonly Content[]) => ({
    title: 'Search',
    body: section('By any reference or id', [
      filters(query, { action: '/search', label: 'Search', fields }),
      body,
    ]),
  });
  if (text === undefined) return page(html`<p class="empty">Write what you look for.</p>`);
  if (ACCOUNT.test(text)) return { goTo: pathTo('account', text) };
  const silent = new Set<string>();
  const found = async (asked: readonly Promise<Hits>[]): Promise<Hits> => {
    const all = await Promise.all(asked.map((one) => one.catch((error: unknown) => unfound(error, silent))));
    return [...new Map(all.flat())];
  };
  const named = ids.map(async ([what, subject, service, operation]): Promise<Hits> => {
    await call(service, operation, { parameters: { id: text, commandId: text } });
    return [[pathTo(subject, text), `${what} ${text}`]];
  });
  let hits = await found([
    ...findPayment(call, text),
    findBatch(call, text),
    findRail(call, text),
    findMerchants(call, text),
    ...named,
  ]);
  if (hits.length === 0) hits = await found([findBreaks(call, text)]);
  if (hits[0] && hits.length === 1) return { goTo: hits[0][0] };
  const gaps = [...silent].map(
    (why) => html`<p class="problem" role="alert">Not looked up everywhere: ${why}</p>`,
  );
  if (hits.length > 0) {
    const lines = hits.map(([path, what]) => html`<li>${link(path, foreign(what))}</li>`);
    return page(gaps, html`<p>There are ${hits.length}:</p><ul>${lines}</ul>`);
  }
  const tried = `a reference of a payment, ours or its merchant's, of a batch or of breaks, a rail, a merchant by its id or name, an account, and the id of a ${ids.map(([what]) => what).join(', ')}`;
  return page(
    gaps,
    html`<p>There is nothing called ${foreign(text)}. It was looked up as ${tried}.</p><p>${link('/payments', 'See the newest payments')}</p>`,
  );
}

/** Nothing is found by who refuses the question; who gave no answer is noted. */
function unfound(error: unknown, silent: Set<string>): Hits {
  if (!(error instanceof ClientError) || (error instanceof RefusedError && error.status === 403)) throw error;
  const isUnknown = !(error instanceof RefusedError) || error.code === 'too_broad';
  if (isUnknown) silent.add(messageOf(error));
  return [];
}

const payment = ({ reference, merchantId }: { readonly reference: string; readonly merchantId: string }) =>
  [pathTo('payment', reference), `payment ${reference} of ${merchantId}`] as const;

/** By our reference, or by the merchant's. */
function findPayment(call: Call, text: string): readonly Promise<Hits>[] {
  const gateways = { 'po-': 'payout-gateway', 'co-': 'collection-gateway' } as const;
  return (['po-', 'co-'] as const).map(async (prefix): Promise<Hits> => {
    if (!text.startsWith(prefix)) {
      const query = { merchantReference: text, limit: LISTED_MAX };
      const { items } = await call(gateways[prefix], paymentOperations.list, { query });
      return items.map(payment);
    }
    return [payment(await call(gateways[prefix], paymentOperations.show, { query: { reference: text } }))];
  });
}

/** The first payouts of a batch: its reference and theirs begin with the time at which it was accepted. */
async function findBatch(call: Call, batch: string): Promise<Hits> {
  if (!isId('ba', batch)) return [];
  const atMs = Number.parseInt(batch.slice(3, 15), 16);
  const [from, to] = [atMs, atMs + BATCH_LASTS_MS].map((ms) => new Date(ms).toISOString());
  const query = { from, to, limit: BATCH_SHOWN };
  const { items } = await call('payout-gateway', paymentOperations.list, { query });
  const whole = items.map(({ reference }) =>
    call('payout-gateway', paymentOperations.show, { query: { reference } }),
  );
  const all = await Promise.all(whole);
  return all.filter((one) => one.kind === 'payout' && one.batchReference === batch).map(payment);
}

async function findBreaks(call: Call, reference: string): Promise<Hits> {
  const { items } = await call('reconciler', breakOperations.list, { query: { reference } });
  return items.map(({ id }) => [pathTo('break', id), `break ${id}`]);
}

/** By the beginning of their ids, or a part of their names. */
async function findMerchants(call: Call, text: string): Promise<Hits> {
  const query = { search: text.slice(0, 64), limit: LISTED_MAX };
  const { items } = await call('ledger', settingsOperations.merchants, { query });
  return items.map(({ id, name }) => [pathTo('merchant', id), `merchant ${id}, ${name}`]);
}

async function findRail(call: Call, name: string): Promise<Hits> {
  const { items } = await call('reconciler', comparisonOperations.drift, {});
  return items.some(({ rail }) => rail === name) ? [[pathTo('rail', name), `rail ${name}`]] : [];
}
