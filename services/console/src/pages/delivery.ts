import { type AttemptView, type DeliveryDetailView, deliveryOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { counted, indentJson, state, these, time, words } from '../view/values.ts';
import { type Given, only, orProblem, type Routes, type Submission, type Visit } from '../visits.ts';
import { CHOSEN } from './webhooks.ts';

const SERVICE = 'webhook-dispatcher';
const CHOSEN_MAX = 100;
/** How often a webhook shows itself anew: while its next attempt is near or under way, and while that is far. */
const NEAR_SECONDS = 2;
const FAR_SECONDS = 30;
const NEAR_MS = 120_000;

/** One webhook, and what sends one or many again. */
export function addDeliveryPages(routes: Routes): void {
  routes.page('/webhooks/deliveries/:id', showDelivery);
  addChange(routes, '/webhooks/resend', askAgain, resend);
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
    html`<p class="actions">${link(pathOf(['webhooks', 'resend'], { [`${CHOSEN}0`]: one.id }), 'Send it again…')} ${link(pathOf(['webhooks', 'test'], { merchant: one.merchantId }), 'Send a test webhook…')}</p>`;
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

const chosenIn = (given: Given): readonly string[] =>
  Array.from({ length: CHOSEN_MAX }, (_, index) => given(`${CHOSEN}${index}`)).flatMap((id) => id ?? []);

const hiddenOf = (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id, index) => [`${CHOSEN}${index}`, id]));

/** What each of some webhooks gives, or why it gave nothing, beside its id. */
const ofEach = <Value>(ids: readonly string[], ask: (id: string) => Promise<Value>) =>
  Promise.all(ids.map((id) => orProblem(ask(id)).then(([found, problem]) => ({ id, found, problem }))));

function askAgain({ upstream, times }: Visit, given: Given): Change {
  const ids = chosenIn(given);
  return {
    title: `Send ${these(ids.length, 'webhook')} again?`,
    role: 'operator',
    hidden: hiddenOf(ids),
    foresee: async () => {
      const read = (id: string) => upstream.call(SERVICE, deliveryOperations.show, { parameters: { id } });
      const shown = tableOf(
        'As they stand now',
        await ofEach(ids, read),
        [
          ['Webhook', ({ id }) => copyable(id, pathTo('delivery', id))],
          ['State', ({ found, problem }) => (found ? state(found.state) : problem)],
          ['Merchant', ({ found }) => linkTo('merchant', found?.merchantId)],
          ['Next attempt', ({ found }) => time(found?.dueAt, times)],
        ],
        html`Nothing was chosen. ${link('/webhooks', 'Choose webhooks in the list')}`,
      );
      const explained = html`<p>Each is due now, under the same id and with its schedule of attempts from the start. Who has one already can tell by its id.</p>`;
      if (ids.length === 0) return { shown };
      return { shown: html`${shown}${explained}`, submit: `Send ${these(ids.length, 'webhook')} again` };
    },
    back: ['/webhooks', 'Back to the webhooks'],
  };
}

/** Makes each due; the result of each is shown, whatever became of the others. */
async function resend({ upstream, field }: Submission): Promise<string | Page> {
  const ids = chosenIn(field);
  const send = (id: string) => upstream.call(SERVICE, deliveryOperations.resend, { parameters: { id } });
  const [only = ''] = ids;
  if (ids.length === 1) {
    await send(only);
    return pathTo('delivery', only);
  }
  const results = await ofEach(ids, send);
  const missed = results.flatMap(({ id, problem }) => (problem === undefined ? [] : id));
  const again = pathOf(['webhooks', 'resend'], hiddenOf(missed));
  const shown = tableOf(
    'What became of each',
    results,
    [
      ['Webhook', ({ id }) => copyable(id, pathTo('delivery', id))],
      ['Result', ({ problem }) => problem ?? 'due now'],
    ],
    'Nothing was chosen.',
  );
  return {
    title: `${ids.length - missed.length} of ${ids.length} webhooks are due now`,
    body: html`${shown}${missed.length === 0 ? nothing : html`<p>${link(again, `Ask again for ${counted(missed.length, 'webhook')} that may not be due`)}</p>`}<p>${link('/webhooks', 'Back to the webhooks')}</p>`,
  };
}
