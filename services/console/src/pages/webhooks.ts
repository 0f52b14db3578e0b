import { addressProblems } from '@pesewa/addresses';
import {
  type DeliveryView,
  deliveryOperations,
  deliveryStates,
  ENDPOINTS_MAX,
  type EndpointView,
  type endpointCounts,
  endpointOperations,
  type TestView,
  testKinds,
} from '@pesewa/contracts';
import { describeConnection, describeTest, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { chooseColumn } from '../view/bulk.ts';
import { addChange, type Change } from '../view/change.ts';
import { choiceField } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo } from '../view/links.ts';
import { facts, listOf, tableOf } from '../view/table.ts';
import { age, count, counted, indentJson, state, time } from '../view/values.ts';
import { choiceOf, type Given, only, part, type Routes, type Visit } from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
const COUNT_MAX = 100;

/** The webhooks that merchants are owed, and the health of their endpoints. */
export function addWebhookPages(routes: Routes): void {
  addEndpointPages(routes);
  routes.page('/webhooks', async (visit) => {
    const { call } = visit.upstream;
    const [endpoints, counts, list] = await Promise.all([
      part(call(SERVICE, deliveryOperations.endpoints, {}).then(({ items }) => endpointTable(visit, items))),
      part(countOwed(visit)),
      deliveryList(visit),
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
  const many = (one: EndpointView, name: (typeof endpointCounts)[number]) => ({
    count: one[name],
    isCut: one.cut.includes(name),
  });
  const listed = (name: 'pending' | 'deferred' | 'exhausted') => (one: EndpointView) => {
    const { merchantId: merchant, endpoint } = one;
    return count(many(one, name), pathOf(['webhooks'], { merchant, endpoint, state: name }));
  };
  const enable = ({ merchantId: merchant, endpoint }: EndpointView) =>
    link(pathOf(['webhooks', 'enable'], { merchant, endpoint }), 'Enable…');
  return tableOf(
    `Endpoints that fail, are owed webhooks or had some given up, the disabled ones first; at most ${ENDPOINTS_MAX}`,
    endpoints,
    [
      ['Merchant', ({ merchantId }) => linkTo('merchant', merchantId)],
      ['Endpoint', ({ endpoint }) => foreign(endpoint)],
      ['State', (one) => state(one.state)],
      ['Waiting', listed('pending'), 'number'],
      ['Failing', (one) => count(many(one, 'failing')), 'number'],
      ['Kept', listed('deferred'), 'number'],
      ['Given up', listed('exhausted'), 'number'],
      ['Fails for', ({ failingSince }) => (failingSince === null ? 'it does not' : age(failingSince, times))],
      ['Last success', ({ lastSuccessAt }) => age(lastSuccessAt, times)],
      ['Next attempt', ({ nextAt }) => time(nextAt, times)],
      ['Last answer', lastOf],
      may('operator') && ['To do', (one) => (one.state === 'disabled' ? enable(one) : nothing)],
    ],
    'Every endpoint answers, and nothing waits. One that fails or is disabled would stand here.',
  );
}

const owed = [
  ['pending', 'Wait for an attempt'],
  ['deferred', 'Kept for disabled endpoints'],
  ['exhausted', 'Given up'],
  ['discarded', 'Discarded'],
] as const;

async function countOwed({ upstream }: Visit): Promise<Html> {
  const asked = owed.map(async ([code, words]) => {
    const found = await upstream.list(SERVICE, deliveryOperations.list, { state: code }, COUNT_MAX);
    const many = { count: found.items.length, isCut: found.hasMore };
    return [words, count(many, pathOf(['webhooks'], { state: code }))] as const;
  });
  return facts(await Promise.all(asked));
}

function deliveryList(visit: Visit): Promise<Html> {
  const { query, times, may } = visit;
  const isBare = ['merchant', 'reference', 'state'].every((name) => query(name) === undefined);
  const code = isBare ? 'exhausted' : query('state');
  const send = only(
    visit,
    'operator',
    () => html`<button type="submit">Send the chosen ones again…</button>`,
  );
  return listOf<DeliveryView>(visit, {
    path: ['webhooks'],
    caption: isBare ? 'Those that were given up' : 'Those of a merchant: the oldest first; all others: by id',
    fields: [
      { name: 'merchant', label: 'Merchant' },
      { name: 'endpoint', label: "The merchant's endpoint" },
      { ...choiceField('state', 'State', deliveryStates, 'any'), value: code },
      { name: 'reference', label: "Reference, ours or the merchant's" },
      { name: 'from', label: `Created from, in ${times.zone}` },
      { name: 'to', label: `Created before, in ${times.zone}` },
    ],
    read: (after, { merchant: merchantId, ...asked }) => {
      const inState = { state: deliveryStates.find((one) => one === code) };
      return visit.upstream.call(SERVICE, deliveryOperations.list, {
        query: { merchantId, ...asked, ...inState, after },
      });
    },
    columns: [
      may('operator') && chooseColumn,
      ['Webhook', (one) => linkTo('delivery', one.id, inWords(one.kind))],
      ['State', (one) => state(one.state)],
      ['Merchant', (one) => linkTo('merchant', one.merchantId)],
      ['Payment', (one) => linkTo('payment', one.reference)],
      ['Their reference', (one) => foreign(one.merchantReference)],
      ['Attempts', ({ attempts }) => attempts, 'number'],
      ['Created', ({ createdAt }) => time(createdAt, times)],
      ['Next attempt', ({ dueAt }) => time(dueAt, times)],
      ['Last answer', lastOf],
    ],
    empty: 'No webhook was given up. Ask for a merchant, a state or a reference to see others.',
    around: (table, items) =>
      items.length === 0 ? table : html`<form method="get" action="/webhooks/resend">${table}${send}</form>`,
  });
}

/** Where the service stops counting. */
const WAITING_MAX = 50_000;
const back = ['/webhooks', 'Back to the webhooks'] as const;

/** What enables an endpoint that was disabled, and what tries one. */
function addEndpointPages(routes: Routes): void {
  addChange(routes, '/webhooks/enable', askToEnable, async ({ upstream, field }) => {
    const body = named(field);
    await upstream.call(SERVICE, endpointOperations.enable, { body });
    return pathOf(['webhooks'], { merchant: body.merchantId });
  });
  const askToTest = (): Change => ({
    title: 'Test webhook',
    about: html`<p>A signed sample goes to the merchant's own address, as webhooks do. It belongs to no payment.</p>`,
    fields: [
      { name: 'merchant', label: 'Merchant', isRequired: true, maxLength: 64 },
      choiceField('kind', 'About a', testKinds),
    ],
    submit: 'Send a test webhook to the merchant',
    back,
  });
  addChange(routes, '/webhooks/test', askToTest, async ({ upstream, field }) => {
    const merchantId = field('merchant') ?? '';
    const kind = choiceOf(field, 'kind', testKinds);
    const given = { parameters: { merchantId }, body: { kind } };
    return testResult(await upstream.call(SERVICE, deliveryOperations.test, given), merchantId, kind);
  });
}

const named = (given: Given) => ({ merchantId: given('merchant') ?? '', endpoint: given('endpoint') ?? '' });

function askToEnable({ upstream, times }: Visit, given: Given): Change {
  const { merchantId, endpoint } = named(given);
  return {
    title: `Enable ${endpoint} of ${merchantId}?`,
    hidden: { merchant: merchantId, endpoint },
    foresee: async () => {
      const body = { merchantId, endpoint, dryRun: true };
      const { waiting, failingSince } = await upstream.call(SERVICE, endpointOperations.enable, { body });
      const many = `${waiting === WAITING_MAX ? 'at least ' : ''}${counted(waiting, 'webhook')}`;
      const kept = pathOf(['webhooks'], { merchant: merchantId, endpoint, state: 'deferred' });
      return {
        shown: html`<p>It has failed for ${age(failingSince, times)}. Kept for it: ${link(kept, many)}, sent once it is enabled, each under its id, and new ones are sent as they come. If it fails again for as long, it is disabled again.</p>`,
        submit: `Enable ${endpoint} of ${merchantId}, and send ${many}`,
      };
    },
    back,
  };
}

function testResult(met: TestView, merchantId: string, kind: (typeof testKinds)[number]): Page {
  const rule = met.rule === null ? '' : addressProblems[met.rule];
  const explained = describeTest(met, { kind, rule, setAddress: "on the merchant's page" });
  const { connected, tls, signature } = describeConnection(met);
  const isDelivered = met.finding === 'delivered';
  const found = html`<p class="${isDelivered ? 'done' : 'problem'}" role="status">${explained}</p>${facts([
    ['Merchant', linkTo('merchant', merchantId)],
    ['Address', foreign(met.address)],
    ['Its host is at', met.resolved === null ? undefined : met.resolved.join(' ') || 'no address'],
    ['Connected to', connected],
    ['TLS', foreign(tls)],
    ['Signature', signature],
    ['Took', `${met.durationMs} ms of at most ${met.deadlineMs} ms`],
    ['Answer', met.isBodyCut ? 'its body is longer than what is read: send a short one' : undefined],
    ['Sent as', html`<code>${met.id}</code>`],
  ])}<details><summary>What was sent</summary><pre tabindex="0" aria-label="Body">${indentJson(met.sentBody)}</pre></details>`;
  const again = pathOf(['webhooks', 'test'], { merchant: merchantId, kind });
  return {
    title: `Test webhook: ${inWords(met.finding)}`,
    body: html`${section('Result', found)}<p>${link(again, 'Send another one')}</p>`,
  };
}
