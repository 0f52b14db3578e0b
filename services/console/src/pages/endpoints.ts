import { addressProblems } from '@pesewa/addresses';
import { deliveryOperations, endpointOperations, type TestView, testKinds } from '@pesewa/contracts';
import { describeTest, inWords, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, form } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts } from '../view/table.ts';
import { age, indentJson } from '../view/values.ts';
import {
  addChange,
  choiceOf,
  type Given,
  type Outcome,
  only,
  part,
  type Routes,
  type Submission,
  type Visit,
} from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
/** Where the service stops counting. */
const WAITING_MAX = 50_000;

/** What enables an endpoint that was disabled, and what tries one. */
export function addEndpointPages(routes: Routes): void {
  addChange(routes, '/webhooks/enable', showEnable, async ({ upstream, field }) => {
    const [merchantId, endpoint] = named(field);
    await upstream.call(SERVICE, endpointOperations.enable, { body: { merchantId, endpoint } });
    return pathOf(['webhooks'], { merchant: merchantId });
  });
  routes.page('/webhooks/test', (visit) => showTest(visit, visit.query));
  routes.form('/webhooks/test', test);
}

const named = (given: Given) => [given('merchant') ?? '', given('endpoint') ?? ''] as const;

async function showEnable(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const [merchantId, endpoint] = named(given);
  const dryRun = async () => {
    const body = { merchantId, endpoint, dryRun: true };
    const { waiting, failingSince } = await visit.upstream.call(SERVICE, endpointOperations.enable, { body });
    const atLeast = waiting === WAITING_MAX ? 'at least ' : '';
    const many = `${atLeast}${waiting.toLocaleString('en-GB')} webhooks`;
    return html`<p>It has failed for ${age(failingSince, visit.times)}. ${link(pathOf(['webhooks'], { merchant: merchantId, state: 'deferred' }), many)} wait for it, and are sent once it is enabled.</p>
${form({ csrf: visit.csrf, action: '/webhooks/enable', hidden: { merchant: merchantId, endpoint }, submit: `Enable ${endpoint} of ${merchantId}, and send ${many}`, problem })}`;
  };
  const body = section(
    'What will happen',
    only(visit, 'operator', () => part(dryRun())),
  );
  return { title: `Enable ${endpoint} of ${merchantId}?`, body };
}

function showTest(visit: Visit, given: Given, problem?: string, result: Html = nothing): Page {
  const fields = [
    { name: 'merchant', label: 'Merchant', value: given('merchant'), isRequired: true, maxLength: 64 },
    choiceField(['kind', 'About a'], testKinds, given('kind')),
  ];
  const shown = only(
    visit,
    'operator',
    () => html`<p>A signed sample goes to the merchant's own address, as webhooks do. It belongs to no payment.</p>
${form({ csrf: visit.csrf, action: '/webhooks/test', fields, submit: 'Send a test webhook to the merchant', problem })}`,
  );
  return { title: 'Test webhook', body: html`${result}${section('Send one', shown)}` };
}

async function test(submission: Submission): Promise<Outcome> {
  const { upstream, field } = submission;
  const merchantId = field('merchant') ?? '';
  try {
    const kind = choiceOf(field, 'kind', testKinds);
    const met = await upstream.call(SERVICE, deliveryOperations.test, {
      parameters: { merchantId },
      body: { kind },
    });
    return { again: showTest(submission, field, undefined, resultOf(met, merchantId, kind)), status: 200 };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { again: showTest(submission, field, messageOf(error)), status: 422 };
  }
}

function resultOf(met: TestView, merchantId: string, kind: (typeof testKinds)[number]): Html {
  const isDelivered = met.finding === 'delivered';
  const rule = met.rule === null ? '' : addressProblems[met.rule];
  const explained = describeTest(met, { kind, rule, setAddress: "on the merchant's page" });
  return section(
    `Result: ${inWords(met.finding)}`,
    html`<p class="${isDelivered ? 'done' : 'problem'}" role="status">${explained}</p>${facts([
      ['Merchant', link(pathOf(['merchants', merchantId]), foreign(merchantId))],
      ['Address', foreign(met.address)],
      ['Its host is at', met.resolved === null ? undefined : met.resolved.join(' ') || 'no address'],
      ['Took', `${met.durationMs} ms of at most ${met.deadlineMs} ms`],
      ['Answer', met.isBodyCut ? 'its body is longer than what is read: send a short one' : undefined],
      ['Sent as', html`<code>${met.id}</code>`],
    ])}<details><summary>What was sent</summary><pre tabindex="0" aria-label="Body">${indentJson(met.sentBody)}</pre></details>`,
  );
}
