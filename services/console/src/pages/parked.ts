import {
  type ConsumerGroup,
  consumerGroups,
  type ParkedDetailView,
  parkedOperations,
  parkedStates,
} from '@pesewa/contracts';
import { describeParked, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, decide, type Field, filters, form, reasonField } from '../view/form.ts';
import { copyable, foreign, type Html, link, nothing } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, listOf } from '../view/table.ts';
import { age, state, time, withTimes, words } from '../view/values.ts';
import {
  choiceOf,
  doOrShowAgain,
  type Given,
  only,
  type Routes,
  type Submission,
  type Visit,
} from '../visits.ts';

/** The messages that services could not apply: replayed by one operator, or discarded by two. */
export function addParkedPages(routes: Routes): void {
  routes.page('/webhooks/parked', showList);
  routes.page('/webhooks/parked/:id', (visit) => showMessage(visit, visit.query));
  routes.form('/webhooks/parked/:id', (submission) =>
    doOrShowAgain(
      () => act(submission),
      (problem) => showMessage(submission, submission.field, withTimes(problem, submission.times)),
    ),
  );
}

async function showList(visit: Visit): Promise<Page> {
  const { query } = visit;
  const service = query('service');
  const code = query('state') ?? 'parked';
  const asked = consumerGroups.filter((name) => service === undefined || name === service);
  const lists = await Promise.all(asked.map((name) => listAt(visit, name, code)));
  const fields = [
    choiceField('service', 'Service', consumerGroups, 'all'),
    choiceField('state', 'State', [...parkedStates, 'any']),
  ];
  const body = html`${filters(query, { action: '/webhooks/parked', label: 'Which messages', fields })}${asked.map((name, index) => section(name, lists[index]))}`;
  return { title: 'Messages that could not be applied', body };
}

/** The messages of one service; links to its other pages are to its list alone. */
function listAt(visit: Visit, service: ConsumerGroup, code: string): Promise<Html> {
  const { upstream, times } = visit;
  const isAlone = visit.query('service') !== undefined;
  const own: Readonly<Record<string, string | undefined>> = {
    service,
    state: code,
    cursor: isAlone ? visit.query('cursor') : undefined,
  };
  const given = parkedStates.find((one) => one === code);
  const alone = { ...visit, query: (name: string) => own[name] };
  return listOf(alone, {
    path: ['webhooks', 'parked'],
    caption: `At ${service}, the newest first`,
    kept: ['service', 'state'],
    read: (cursor) => upstream.call(service, parkedOperations.list, { query: { state: given, cursor } }),
    columns: [
      ['Message', ({ id }) => linkTo('parked', id, id.slice(service.length + 1))],
      ['State', (one) => state(one.state)],
      ['Event', ({ eventType }) => foreign(eventType.slice(eventType.lastIndexOf('.') + 1))],
      ['Key', ({ key }) => foreign(key)],
      ['Parked for', ({ parkedAt }) => age(parkedAt, times)],
      ['Reason', ({ reason }) => words(reason, times)],
      ['What was done', (one) => words(describeParked(one), times)],
    ],
    empty:
      code === 'parked'
        ? `${service} could apply every message.`
        : html`Nothing matches. ${link('/webhooks/parked', 'Show what is parked')}`,
  });
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
  const headers = Object.entries(one.headers ?? {}).map(([name, value]) => [name, foreign(value)] as const);
  const body = html`<p class="problem">${words(one.reason, visit.times)}</p>
${one.state === 'parked' ? decisions(visit, one, given, problem) : nothing}
${section('Facts', factsOf(visit, one, references))}
${section('Headers', one.headers === null ? 'It was too large to be kept: it stands in the topic alone.' : facts(headers))}
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
      references.length === 0 ? undefined : references.map((it) => html`${linkTo('payment', it)} `),
    ],
    ['What was done', words(describeParked(one), times)],
  ]);

/** What can be done: replay it, or discard it by two operators. */
function decisions(visit: Visit, { id, discard }: ParkedDetailView, given: Given, problem?: string): Html {
  const { csrf, times } = visit;
  const action = pathTo('parked', id);
  const asked = given('what');
  const button = (what: string, submit: string, fields: readonly Field[]) =>
    form({ csrf, action, hidden: { what }, fields, given, submit, ...(asked === what && { problem }) });
  const replay = () => button('replay', 'Apply the message again', []);
  const propose = () => html`<p>It never has an effect then. Another operator must approve that.</p>
${button('discard', 'Propose to discard the message', [reasonField])}`;
  const discarding =
    discard?.status === 'proposed'
      ? html`<p>${discard.requestedBy} proposed at ${time(discard.requestedAt, times)} that it never has an effect: ${foreign(discard.reason)}</p>
${decide(visit, { action, requestedBy: discard.requestedBy, approve: 'Discard the message for good', otherwise: 'the message stays parked', hidden: { requestedAt: discard.requestedAt }, problem: asked === 'replay' ? undefined : problem }, given)}`
      : only(visit, 'operator', propose);
  return html`${section('Apply it', html`<p>What took effect already stays as it is.</p>${only(visit, 'operator', replay)}`)}
${section('Discard it', discarding)}`;
}

async function act({ upstream, part, field }: Submission): Promise<string> {
  const id = part('id');
  const service = serviceOf(id);
  const what = choiceOf(field, 'what', ['replay', 'discard', 'approve', 'reject']);
  const [reason = '', requestedAt = ''] = ['reason', 'requestedAt'].map(field);
  const bodies = {
    replay: undefined,
    discard: { reason },
    approve: { requestedAt },
    reject: { requestedAt, reason },
  };
  const given = { parameters: { id }, body: bodies[what] };
  await upstream.call(service, parkedOperations[what], given);
  return pathTo('parked', id);
}
