import {
  type ConsumerGroup,
  consumerGroups,
  type ParkedDetailView,
  parkedOperations,
  parkedStates,
} from '@pesewa/contracts';
import { describeParked, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { decide, reasonField } from '../view/decide.ts';
import { choiceField, type Field, filters, form } from '../view/form.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, tableOf } from '../view/table.ts';
import { age, state, time } from '../view/values.ts';
import {
  addChange,
  choiceOf,
  type Given,
  only,
  part,
  type Routes,
  type Submission,
  type Visit,
} from '../visits.ts';

/** The messages that services could not apply: replayed by one operator, or discarded by two. */
export function addParkedPages(routes: Routes): void {
  routes.page('/webhooks/parked', showList);
  addChange(routes, '/webhooks/parked/:id', showMessage, act);
}

async function showList(visit: Visit): Promise<Page> {
  const { query } = visit;
  const service = query('service');
  const code = query('state') ?? 'parked';
  const asked = consumerGroups.filter((name) => service === undefined || name === service);
  const lists = await Promise.all(asked.map((name) => part(ofService(visit, name, code))));
  const fields = [
    choiceField(['service', 'Service'], consumerGroups, service, 'all'),
    choiceField(['state', 'State'], [...parkedStates, 'any'], code),
  ];
  const body = html`${filters({ action: '/webhooks/parked', label: 'Which messages', fields })}${asked.map((name, index) => section(name, lists[index]))}`;
  return { title: 'Messages that could not be applied', body };
}

async function ofService(
  { upstream, query, times }: Visit,
  service: ConsumerGroup,
  code: string,
): Promise<Html> {
  const cursor = query('service') === undefined ? undefined : query('cursor');
  const given = parkedStates.find((one) => one === code);
  const { items, next } = await upstream.call(service, parkedOperations.list, {
    query: { state: given, cursor },
  });
  const pathAfter = (after: string | undefined) =>
    pathOf(['webhooks', 'parked'], { service, state: code, cursor: after });
  const shown = tableOf(
    `At ${service}, the newest first`,
    items,
    [
      ['Message', ({ id }) => link(pathOf(['webhooks', 'parked', id]), id.slice(service.length + 1))],
      ['State', (one) => state(one.state)],
      ['Event', ({ eventType }) => foreign(eventType.slice(eventType.lastIndexOf('.') + 1))],
      ['Key', ({ key }) => foreign(key)],
      ['Parked for', ({ parkedAt }) => age(parkedAt, times)],
      ['Reason', ({ reason }) => foreign(reason)],
      ['What was done', (one) => foreign(describeParked(one))],
    ],
    code === 'parked'
      ? `${service} could apply every message.`
      : html`Nothing matches. ${link('/webhooks/parked', 'Show what is parked')}`,
  );
  return html`${shown}${pager({ next, pathAfter, isFirst: cursor === undefined })}`;
}

/** The service that has parked a message; ids begin with its name. */
function serviceOf(id: string): ConsumerGroup {
  const service = consumerGroups.find((name) => id.startsWith(`${name}/`));
  if (service) return service;
  throw new RefusedError(`id: ${id} is of no service`, 404);
}

async function showMessage(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const id = visit.part('id');
  const one = await visit.upstream.call(serviceOf(id), parkedOperations.show, { parameters: { id } });
  const content = one.payload === null ? one.base64 : JSON.stringify(one.payload, null, 2);
  const references = [...new Set(content?.match(/\b(?:po|co)-[0-9a-z]{32}\b/g))];
  const body = html`<p class="problem">${foreign(one.reason)}</p>
${one.state === 'parked' ? decisions(visit, one, given, problem) : nothing}
${section('Facts', factsOf(visit, one, references))}
${section('Headers', one.headers === null ? 'It was too large to be kept: it stands in the topic alone.' : facts(Object.entries(one.headers).map(([name, value]) => [name, foreign(value)])))}
${section('Payload', html`<pre tabindex="0" aria-label="Payload">${content ?? 'It was too large to be kept.'}</pre>`)}`;
  return { title: `Message ${one.offset} of ${one.topic}: ${inWords(one.state)}`, body };
}

const factsOf = ({ times }: Visit, one: ParkedDetailView, references: readonly string[]): Html =>
  facts([
    ['State', state(one.state)],
    ['Message', copyable(one.id)],
    ['Service', serviceOf(one.id)],
    ['Event', foreign(one.eventType)],
    ['Key', foreign(one.key)],
    ['Parked', time(one.parkedAt, times)],
    ['Bytes', one.valueBytes],
    [
      'Payments',
      references.length === 0
        ? undefined
        : references.map((it) => html`${link(pathOf(['payments', it]), it)} `),
    ],
    ['What was done', foreign(describeParked(one))],
  ]);

/** What can be done: replay it, or discard it by two operators. */
function decisions(visit: Visit, one: ParkedDetailView, given: Given, problem?: string): Html {
  const { csrf, times } = visit;
  const { discard } = one;
  const action = pathOf(['webhooks', 'parked', one.id]);
  const isOpen = discard?.status === 'proposed';
  const button = (what: string, submit: string, fields: readonly Field[], shown?: string) =>
    form({ csrf, action, hidden: { what }, fields, submit, problem: shown });
  const replayed = () =>
    button('replay', 'Apply the message again', [], given('what') === 'replay' ? problem : undefined);
  const proposed = () => html`<p>It never has an effect then. Another operator must approve that.</p>
${button('discard', 'Propose to discard the message', [reasonField(given('reason'))], given('what') === 'discard' ? problem : undefined)}`;
  const decided =
    discard &&
    isOpen &&
    html`<p>${discard.requestedBy} proposed at ${time(discard.requestedAt, times)} that it never has an effect: ${foreign(discard.reason)}</p>
${decide(visit, { action, requestedBy: discard.requestedBy, approve: 'Discard the message for good', otherwise: 'the message stays parked', problem: given('what') === 'replay' ? undefined : problem })}`;
  return html`${section('Apply it', html`<p>What took effect already stays as it is.</p>${only(visit, 'operator', replayed)}`)}
${section('Discard it', decided || only(visit, 'operator', proposed))}`;
}

async function act({ upstream, part: partOf, field }: Submission): Promise<string> {
  const given = { parameters: { id: partOf('id') } };
  const service = serviceOf(partOf('id'));
  const what = choiceOf(field, 'what', ['replay', 'discard', 'approve', 'reject']);
  const { discard } = parkedOperations;
  if (what !== 'discard') await upstream.call(service, parkedOperations[what], given);
  else await upstream.call(service, discard, { ...given, body: { reason: field('reason') ?? '' } });
  return pathOf(['webhooks', 'parked', partOf('id')]);
}
