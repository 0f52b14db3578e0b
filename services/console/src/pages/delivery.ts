import { type AttemptView, type DeliveryDetailView, deliveryOperations } from '@pesewa/contracts';
import { ClientError, inWords, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form } from '../view/form.ts';
import { copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, table } from '../view/table.ts';
import { indentJson, state, time } from '../view/values.ts';
import { type Given, type Outcome, only, type Routes, type Submission, type Visit } from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
const CHOSEN_MAX = 100;

/** One webhook, and what sends one or many again. */
export function addDeliveryPages(routes: Routes): void {
  routes.page('/webhooks/deliveries/:id', showDelivery);
  routes.page('/webhooks/resend', (visit) => showChosen(visit, chosenIn(visit.query)));
  routes.form('/webhooks/resend', resend);
}

async function showDelivery(visit: Visit): Promise<Page> {
  const { upstream, times } = visit;
  const parameters = { id: visit.part('id') };
  const [one, { items }] = await Promise.all([
    upstream.call(SERVICE, deliveryOperations.show, { parameters }),
    upstream.call(SERVICE, deliveryOperations.attempts, { parameters }),
  ]);
  const body = html`${one.reason === null ? nothing : html`<p class="problem">${inWords(one.state)}: ${inWords(one.reason)}</p>`}
${only(visit, 'operator', () => html`<p class="actions">${link(pathOf(['webhooks', 'resend'], { 'pick-0': one.id }), 'Send it again…')} ${link(pathOf(['webhooks', 'test'], { merchant: one.merchantId }), 'Send a test webhook…')}</p>`)}
${section('Facts', factsOf(one, times))}
${section('Attempts', attemptTable(items, times))}
${section(
  'What it sends',
  html`<details><summary>Headers; the signature is made anew for each attempt</summary>${facts(Object.entries(one.headers).map(([name, value]) => [name, foreign(value)]))}</details>
<pre tabindex="0" aria-label="Body">${indentJson(one.body)}</pre>`,
)}`;
  return { title: `Webhook ${inWords(one.kind)}: ${inWords(one.state)}`, body };
}

const factsOf = (one: DeliveryDetailView, times: Visit['times']): Html =>
  facts([
    ['State', state(one.state)],
    ['Webhook', copyable(one.id)],
    ['Payment', copyable(one.reference, pathOf(['payments', one.reference]))],
    ["The merchant's reference", foreign(one.merchantReference)],
    ['Merchant', link(pathOf(['merchants', one.merchantId]), one.merchantId)],
    ['Address', one.address === null ? 'the merchant has none for it' : foreign(one.address)],
    ['Created', time(one.createdAt, times)],
    ['Next attempt', time(one.dueAt, times)],
  ]);

const attemptTable = (attempts: readonly AttemptView[], times: Visit['times']): Html =>
  table({
    caption: 'Each attempt, and what it met',
    columns: ['At', 'Answer', { title: 'Milliseconds', isNumber: true }],
    rows: attempts.map(({ at, status, error, durationMs }) => [
      time(at, times),
      status === undefined ? foreign(inWords(error ?? '')) : status,
      durationMs,
    ]),
    empty: 'It was not tried yet.',
  });

const chosenIn = (given: Given): readonly string[] =>
  Array.from({ length: CHOSEN_MAX }, (_, index) => given(`pick-${index}`)).flatMap((id) => id ?? []);

/** The chosen webhooks as they stand now: before they are sent again, and after that. */
async function showChosen(visit: Visit, ids: readonly string[], problem?: string): Promise<Page> {
  const { upstream, times, csrf } = visit;
  const read = async (id: string) => {
    const found = await upstream
      .call(SERVICE, deliveryOperations.show, { parameters: { id } })
      .catch((error: unknown) => (error instanceof ClientError ? messageOf(error) : Promise.reject(error)));
    return typeof found === 'string'
      ? [html`<code>${id}</code>`, foreign(found), dash, dash]
      : [
          copyable(id, pathOf(['webhooks', 'deliveries', id])),
          state(found.state),
          found.merchantId,
          time(found.dueAt, times),
        ];
  };
  const isSent = visit.query('sent') !== undefined;
  const what = ids.length === 1 ? 'this webhook' : `these ${ids.length} webhooks`;
  const shown = table({
    caption: isSent ? 'As they stand now: each was made due' : 'As they stand now',
    columns: ['Webhook', 'State', 'Merchant', 'Next attempt'],
    rows: await Promise.all(ids.map(read)),
    empty: html`Nothing was chosen. ${link('/webhooks', 'Choose webhooks in the list')}`,
  });
  const explained = html`<p>Each is due now, under the same id and with its schedule of attempts from the start. Who has one already can tell by its id.</p>`;
  const confirm = () =>
    html`${explained}${form({ csrf, action: '/webhooks/resend', hidden: hiddenOf(ids), submit: `Send ${what} again`, problem })}`;
  const rest = ids.length === 0 || isSent ? nothing : only(visit, 'operator', confirm);
  return {
    title: isSent ? 'Sent again' : `Send ${what} again?`,
    body: section('Webhooks', html`${shown}${rest}`),
  };
}

const hiddenOf = (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id, index) => [`pick-${index}`, id]));

/** Makes each due; those that could not be are shown again, each with its reason. */
async function resend(submission: Submission): Promise<Outcome> {
  const ids = chosenIn(submission.field);
  const failed = new Map<string, string>();
  for (const id of ids) {
    try {
      await submission.upstream.call(SERVICE, deliveryOperations.resend, { parameters: { id } });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      failed.set(id, messageOf(error));
    }
  }
  if (failed.size > 0) {
    const reasons = [...failed].map(([id, why]) => `${id}: ${why}`).join('; ');
    const problem = `${ids.length - failed.size} of ${ids.length} are due now; not these: ${reasons}`;
    return { again: await showChosen(submission, [...failed.keys()], problem), status: 409 };
  }
  const [first = ''] = ids;
  if (ids.length === 1) return { goTo: pathOf(['webhooks', 'deliveries', first]) };
  return { goTo: pathOf(['webhooks', 'resend'], { ...hiddenOf(ids), sent: 'yes' }) };
}
