import { type AttemptView, type DeliveryDetailView, deliveryOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addBulk } from '../view/bulk.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { indentJson, state, time, words } from '../view/values.ts';
import { only, type Routes, type Visit } from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
/** How often a webhook shows itself anew: while its next attempt is near or under way, and while that is far. */
const NEAR_SECONDS = 2;
const FAR_SECONDS = 30;
const NEAR_MS = 120_000;

/** One webhook, and what sends one or many again. */
export function addDeliveryPages(routes: Routes): void {
  routes.page('/webhooks/deliveries/:id', showDelivery);
  addBulk(routes, '/webhooks/resend', {
    subject: 'delivery',
    noun: 'webhook',
    does: (which) => `Send ${which} again`,
    about: html`<p>Each is due now, under the same id and with its schedule of attempts from the start. Who has one already can tell by its id.</p>`,
    read: ({ upstream }, id) => upstream.call(SERVICE, deliveryOperations.show, { parameters: { id } }),
    columns: ({ times }) => [
      ['Webhook', ({ id }) => copyable(id, pathTo('delivery', id))],
      ['State', (one) => state(one.state)],
      ['Merchant', ({ merchantId }) => linkTo('merchant', merchantId)],
      ['Next attempt', ({ dueAt }) => time(dueAt, times)],
    ],
    act: ({ upstream }, id) => upstream.call(SERVICE, deliveryOperations.resend, { parameters: { id } }),
    list: '/webhooks',
  });
}

async function showDelivery(visit: Visit): Promise<Page> {
  const { upstream, times } = visit;
  const parameters = { id: visit.part('id') };
  const [one, { items }] = await Promise.all([
    upstream.call(SERVICE, deliveryOperations.show, { parameters }),
    upstream.call(SERVICE, deliveryOperations.attempts, { parameters }),
  ]);
  const dueInMs = Date.parse(one.dueAt ?? '') - times.nowMs;
  const actions = () =>
    html`<p class="actions">${link(pathOf(['webhooks', 'resend'], { 'pick-0': one.id }), 'Send it again…')} ${link(pathOf(['webhooks', 'test'], { merchant: one.merchantId }), 'Send a test webhook…')}</p>`;
  const body = html`${one.reason === null ? nothing : html`<p class="problem">${inWords(one.state)}: ${words(inWords(one.reason), times)}</p>`}
${one.state === 'pending' && dueInMs <= 0 ? html`<p role="status">It is due now: this page shows what its next attempt meets.</p>` : nothing}
${only(visit, 'operator', actions)}
${section('Facts', factsOf(one, times))}
${section('Attempts', attemptTable(items, times))}
${section(
  'What it sends',
  html`<details><summary>Headers; the signature is made anew for each attempt</summary>${facts(Object.entries(one.headers).map(([name, value]) => [name, foreign(value)]))}</details>
<pre tabindex="0" aria-label="Body">${indentJson(one.body)}</pre>`,
)}`;
  const moving = one.state === 'pending' && { everySeconds: dueInMs <= NEAR_MS ? NEAR_SECONDS : FAR_SECONDS };
  return { title: `Webhook ${inWords(one.kind)}: ${inWords(one.state)}`, body, ...moving };
}

const factsOf = (one: DeliveryDetailView, times: Visit['times']): Html =>
  facts([
    ['State', state(one.state)],
    ['Webhook', copyable(one.id)],
    ['Payment', copyable(one.reference, pathTo('payment', one.reference))],
    ["The merchant's reference", foreign(one.merchantReference)],
    ['Merchant', linkTo('merchant', one.merchantId)],
    ['Address', one.address === null ? 'the merchant has none for it' : foreign(one.address)],
    ['Created', time(one.createdAt, times)],
    ['Next attempt', time(one.dueAt, times)],
  ]);

const attemptTable = (attempts: readonly AttemptView[], times: Visit['times']): Html =>
  tableOf(
    'Each attempt, and what it met',
    attempts,
    [
      ['At', ({ at }) => time(at, times)],
      ['Answer', ({ status, error = '' }) => status ?? foreign(inWords(error))],
      ['Milliseconds', ({ durationMs }) => durationMs, 'number'],
    ],
    'It was not tried yet.',
  );
