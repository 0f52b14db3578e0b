import { addressProblems } from '@pesewa/addresses';
import { deliveryOperations, endpointOperations, type TestView, testKinds } from '@pesewa/contracts';
import { describeTest, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { choiceField } from '../view/form.ts';
import { foreign, link, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { age, indentJson } from '../view/values.ts';
import { choiceOf, type Given, type Routes, type Visit } from '../visits.ts';

const SERVICE = 'webhook-dispatcher';
/** Where the service stops counting. */
const WAITING_MAX = 50_000;
const back = ['/webhooks', 'Back to the webhooks'] as const;

/** What enables an endpoint that was disabled, and what tries one. */
export function addEndpointPages(routes: Routes): void {
  addChange(routes, '/webhooks/enable', askToEnable, async ({ upstream, field }) => {
    const body = named(field);
    await upstream.call(SERVICE, endpointOperations.enable, { body });
    return pathOf(['webhooks'], { merchant: body.merchantId });
  });
  const askToTest = (_: Visit, given: Given): Change => ({
    title: 'Test webhook',
    about: html`<p>A signed sample goes to the merchant's own address, as webhooks do. It belongs to no payment.</p>`,
    role: 'operator',
    fields: [
      { name: 'merchant', label: 'Merchant', value: given('merchant'), isRequired: true, maxLength: 64 },
      choiceField(['kind', 'About a'], testKinds, given('kind')),
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
    role: 'operator',
    hidden: { merchant: merchantId, endpoint },
    foresee: async () => {
      const body = { merchantId, endpoint, dryRun: true };
      const { waiting, failingSince } = await upstream.call(SERVICE, endpointOperations.enable, { body });
      const many = `${waiting === WAITING_MAX ? 'at least ' : ''}${waiting.toLocaleString('en-GB')} webhooks`;
      const kept = pathOf(['webhooks'], { merchant: merchantId, state: 'deferred' });
      return {
        shown: html`<p>It has failed for ${age(failingSince, times)}. ${link(kept, many)} were kept for it: they are sent once it is enabled, each under its id, and new ones are sent as they come. If it fails again for as long, it is disabled again.</p>`,
        submit: `Enable ${endpoint} of ${merchantId}, and send ${many}`,
      };
    },
    back,
  };
}

function testResult(met: TestView, merchantId: string, kind: (typeof testKinds)[number]): Page {
  const rule = met.rule === null ? '' : addressProblems[met.rule];
  const explained = describeTest(met, { kind, rule, setAddress: "on the merchant's page" });
  const isDelivered = met.finding === 'delivered';
  const found = html`<p class="${isDelivered ? 'done' : 'problem'}" role="status">${explained}</p>${facts([
    ['Merchant', linkTo('merchant', merchantId)],
    ['Address', foreign(met.address)],
    ['Its host is at', met.resolved === null ? undefined : met.resolved.join(' ') || 'no address'],
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
