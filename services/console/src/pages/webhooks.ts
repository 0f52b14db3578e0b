import { type DeliveryView, deliveryOperations, deliveryStates, type EndpointView } from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, filters } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { facts, pager, tableOf } from '../view/table.ts';
import { age, count, readTime, state, time } from '../view/values.ts';
import { only, part, type Routes, type Visit } from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
const COUNT_MAX = 100;
const names = ['merchant', 'state', 'reference', 'from', 'to'] as const;

/** The webhooks that merchants are owed, and the health of their endpoints. */
export function addWebhooksPage(routes: Routes): void {
  routes.page('/webhooks', async (visit) => {
    const { call } = visit.upstream;
    const [endpoints, counts, list] = await Promise.all([
      part(call(SERVICE, deliveryOperations.endpoints, {}).then(({ items }) => endpointTable(visit, items))),
      part(countOwed(visit)),
      part(deliveryList(visit)),
    ]);
    const body = html`${section('Endpoints', endpoints, ['/webhooks/test', 'Send a test webhook'])}
${section('What merchants do not have', counts, ['/webhooks/parked', 'Messages that our services could not apply'])}
${section('Webhooks', list)}`;
    return { title: 'Webhooks', body };
  });
}

/** What an attempt met, or why there will be none. */
const lastOf = (one: Pick<DeliveryView, 'lastStatus' | 'lastError'> & { readonly reason?: string | null }) =>
  foreign(
    [one.reason, one.lastStatus, one.lastError]
      .flatMap((it) => it ?? [])
      .map((it) => inWords(String(it)))
      .join(', '),
  );

function endpointTable({ may, times }: Visit, endpoints: readonly EndpointView[]): Html {
  const listed = ({ merchantId: merchant }: EndpointView, code: string, many: number) =>
    count({ count: many }, pathOf(['webhooks'], { merchant, state: code }));
  return tableOf(
    `Endpoints that fail or are owed webhooks, the disabled ones first; at most ${COUNT_MAX}`,
    endpoints,
    [
      ['Merchant', ({ merchantId }) => link(pathOf(['merchants', merchantId]), merchantId)],
      ['Endpoint', ({ endpoint }) => foreign(endpoint)],
      ['State', (one) => state(one.state)],
      ['Waiting', (one) => listed(one, 'pending', one.pending), 'number'],
      ['Failing', (one) => listed(one, 'pending', one.failing), 'number'],
      ['Kept', (one) => listed(one, 'deferred', one.deferred), 'number'],
      ['Fails for', ({ failingSince }) => (failingSince === null ? 'it does not' : age(failingSince, times))],
      ['Last success', ({ lastSuccessAt }) => age(lastSuccessAt, times)],
      ['Next attempt', ({ nextAt }) => time(nextAt, times)],
      ['Last answer', lastOf],
      ['To do', (one) => (one.state === 'disabled' && may('operator') ? enableLink(one) : nothing)],
    ],
    'Every endpoint answers, and nothing waits. One that fails or is disabled would stand here.',
  );
}

const enableLink = ({ merchantId: merchant, endpoint }: EndpointView) =>
  link(pathOf(['webhooks', 'enable'], { merchant, endpoint }), 'Enable…');

const owed = [
  ['pending', 'Wait for an attempt'],
  ['deferred', 'Kept for disabled endpoints'],
  ['exhausted', 'Given up'],
  ['discarded', 'Discarded'],
] as const;

async function countOwed({ upstream }: Visit): Promise<Html> {
  const counted = owed.map(async ([code, words]) => {
    const found = await upstream.list(SERVICE, deliveryOperations.list, { state: code }, COUNT_MAX);
    const many = { count: found.items.length, isCut: found.hasMore };
    return [words, count(many, pathOf(['webhooks'], { state: code }))] as const;
  });
  return facts(await Promise.all(counted));
}

async function deliveryList(visit: Visit): Promise<Html> {
  const asked = Object.fromEntries(names.map((name) => [name, visit.query(name)]));
  const { merchant: merchantId, reference } = asked;
  const isBare = (merchantId ?? reference ?? asked['state']) === undefined;
  const code = isBare ? 'exhausted' : asked['state'];
  const state = deliveryStates.find((one) => one === code);
  const after = visit.query('after');
  const listed = async () => {
    const [from, to] = ['from', 'to'].map((name) => instantOf(name, asked[name], visit));
    const query = { merchantId, reference, state, from, to, after };
    const { items, next } = await visit.upstream.call(SERVICE, deliveryOperations.list, { query });
    const pathAfter = (cursor: string | undefined) => pathOf(['webhooks'], { ...asked, after: cursor });
    return html`${deliveryTable(visit, items, isBare)}${pager({ next, pathAfter, isFirst: after === undefined, words: ['First', 'Next'] })}`;
  };
  return html`${filters({
    action: '/webhooks',
    label: 'Which webhooks',
    fields: [
      { name: 'merchant', label: 'Merchant', value: merchantId },
      choiceField(['state', 'State'], deliveryStates, code, 'any'),
      { name: 'reference', label: "Reference, ours or the merchant's", value: reference },
      { name: 'from', label: `Created from, in ${visit.times.zone}`, value: asked['from'] },
      { name: 'to', label: `Created before, in ${visit.times.zone}`, value: asked['to'] },
    ],
  })}${await part(listed())}`;
}

function instantOf(name: string, text: string | undefined, { times }: Visit): string | undefined {
  if (text === undefined) return undefined;
  const at = readTime(text, times.zone);
  if (at === undefined)
    throw new RefusedError(`${name}: write a day or a time such as 27/11/2026 14:05:09`, 422);
  return at;
}

function deliveryTable(visit: Visit, deliveries: readonly DeliveryView[], isBare: boolean): Html {
  const { times } = visit;
  const pick = ({ id }: DeliveryView, index: number) =>
    html`<input type="checkbox" name="pick-${index}" value="${id}" aria-label="Choose ${id}">`;
  const shown = tableOf(
    isBare ? 'Those that were given up' : 'Those of a merchant: the oldest first; all others: by id',
    deliveries,
    [
      ['Choose', pick],
      ['Webhook', (one) => link(pathOf(['webhooks', 'deliveries', one.id]), inWords(one.kind))],
      ['State', (one) => state(one.state)],
      ['Merchant', ({ merchantId }) => link(pathOf(['merchants', merchantId]), merchantId)],
      ['Payment', ({ reference }) => link(pathOf(['payments', reference]), reference)],
      ['Their reference', ({ merchantReference }) => foreign(merchantReference)],
      ['Attempts', ({ attempts }) => attempts, 'number'],
      ['Created', ({ createdAt }) => time(createdAt, times)],
      ['Next attempt', ({ dueAt }) => time(dueAt, times)],
      ['Last answer', lastOf],
    ],
    isBare
      ? 'No webhook was given up. Ask for a merchant, a state or a reference to see others.'
      : html`Nothing matches. ${link('/webhooks', 'Clear the filters')}`,
  );
  if (deliveries.length === 0) return shown;
  const send = only(
    visit,
    'operator',
    () => html`<button type="submit">Send the chosen ones again…</button>`,
  );
  return html`<form method="get" action="/webhooks/resend">${shown}${send}</form>`;
}
