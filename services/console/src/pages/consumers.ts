import {
  type ConsumerGroup,
  consumerGroups,
  dryRunOf,
  type PositionView,
  positionOperations,
} from '@pesewa/contracts';
import { describeRealignment, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { decide, reasonField } from '../view/decide.ts';
import { filters, form } from '../view/form.ts';
import { dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, tableOf } from '../view/table.ts';
import { state, time } from '../view/values.ts';
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

const targetHint =
  'stored: where our database stands; start or end: of what Kafka keeps; or the offset of a message';

/** Where each service stands in its topics, and what starts a stopped partition (ADR 43). */
export function addConsumerPages(routes: Routes): void {
  routes.page('/rails/consumers', async (visit) => {
    const lists = await Promise.all(consumerGroups.map((name) => part(ofService(visit, name))));
    return { title: 'Consumers', body: consumerGroups.map((name, index) => section(name, lists[index])) };
  });
  addChange(routes, '/rails/consumers/:service/:topic/:partition', showPartition, act);
}

async function ofService({ upstream }: Visit, service: ConsumerGroup): Promise<Html> {
  const { items } = await upstream.call(service, positionOperations.list, {});
  const stopped = items.filter((one) => one.state === 'stopped');
  const lag = items.reduce((sum, one) => sum + BigInt(one.lag ?? 0), 0n);
  const linked = (one: PositionView) =>
    link(pathOfPartition(service, one), `partition ${one.partition} of ${one.topic}`);
  const all = tableOf(
    `Every partition that ${service} consumes`,
    items,
    [
      ['Partition', linked],
      ['State', (one) => state(one.state)],
      ['Next', ({ stored }) => stored?.next ?? dash, 'number'],
      ['Committed', ({ kafka }) => kafka.committed ?? dash, 'number'],
      ['End', ({ kafka }) => kafka.high, 'number'],
      ['Wait', (one) => one.lag ?? 'not known', 'number'],
    ],
    'It consumes nothing.',
  );
  const reasons = stopped.map(
    (one) => html`<p class="problem">Stopped: ${linked(one)}. ${one.reason}. ${one.remedy}</p>`,
  );
  return html`${reasons}<details><summary>${items.length} partitions, ${stopped.length} of them stopped; ${lag.toLocaleString('en-GB')} messages wait</summary>${all}</details>`;
}

/** Where a consumer's position in a partition is shown and changed. */
export const pathOfPartition = (
  service: ConsumerGroup,
  { topic, partition }: Pick<PositionView, 'topic' | 'partition'>,
) => pathOf(['rails', 'consumers', service, topic, String(partition)]);

function placeOf(visit: Visit) {
  const service = consumerGroups.find((name) => name === visit.part('service'));
  const place = { topic: visit.part('topic'), partition: Number(visit.part('partition')) };
  if (service) return { service, place, path: pathOfPartition(service, place) };
  throw new RefusedError(`there is no consumer ${visit.part('service')}`, 404);
}

async function showPartition(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const { service, place } = placeOf(visit);
  const { items } = await visit.upstream.call(service, positionOperations.list, {});
  const one = items.find(({ topic, partition }) => topic === place.topic && partition === place.partition);
  if (!one)
    throw new RefusedError(`${service} does not consume ${place.topic} ${visit.part('partition')}`, 404);
  const isStopped = one.state === 'stopped';
  const isProposed = one.realignment?.status === 'proposed';
  const change = isProposed
    ? proposal(visit, one, problem)
    : only(visit, 'operator', () => realign(visit, given, problem));
  const body = html`${isStopped ? html`<p class="problem">${one.reason}. ${one.remedy}</p>` : nothing}
${isStopped || isProposed ? section(isProposed ? 'Proposed' : 'Start it', change) : nothing}
${section('Facts', factsOf(visit, one))}`;
  return {
    title: `Partition ${place.partition} of ${place.topic} at ${service}: ${inWords(one.state)}`,
    body,
  };
}

function factsOf(
  { times }: Visit,
  { stored, kafka, lag, mismatch, realignment, ...one }: PositionView,
): Html {
  return facts([
    ['State', state(one.state)],
    ['What does not fit', mismatch === undefined ? undefined : inWords(mismatch)],
    ['Next message by our database', stored?.next ?? 'it has none'],
    ['Committed in Kafka', kafka.committed ?? 'nothing'],
    ['Kafka keeps', `${kafka.low} to ${kafka.high}`],
    ['Messages that wait', lag ?? 'not known'],
    [
      'Last realignment',
      realignment &&
        html`${inWords(realignment.status)}, by ${realignment.requestedBy} at ${time(realignment.requestedAt, times)}: ${foreign(realignment.reason)}`,
    ],
  ]);
}

/** First asks where it should start, then shows what that does. */
async function realign(visit: Visit, given: Given, problem: string | undefined): Promise<Html> {
  const { service, place, path } = placeOf(visit);
  const to = given('to');
  const field = { name: 'to', label: 'Start at', value: to, hint: targetHint };
  const choose = filters({ action: path, label: 'Where it starts', fields: [field] });
  if (to === undefined) return choose;
  const dryRun = async () => {
    const body = { ...place, to, reason: 'a dry run', dryRun: true };
    const { plan } = await visit.upstream.call(service, dryRunOf(positionOperations.realign), { body });
    const isAlone = plan.operators === 1;
    return html`<p>${describeRealignment(plan)}. What is applied again has no second effect; what is skipped never takes effect${isAlone ? '' : ', so another operator must approve it'}.</p>${form(
      {
        csrf: visit.csrf,
        action: path,
        hidden: { what: 'realign', to },
        problem,
        isDangerous: !isAlone,
        fields: [reasonField(given('reason'))],
        submit: `${isAlone ? 'Start' : 'Propose to start'} at ${plan.next}: ${plan.appliedAgain} applied again, ${plan.skipped} skipped`,
      },
    )}`;
  };
  return html`${choose}${await part(dryRun())}`;
}

function proposal(visit: Visit, { realignment }: PositionView, problem: string | undefined): Html {
  if (!realignment) return nothing;
  const { requestedBy, requestedAt, reason, skipped } = realignment;
  const { path: action } = placeOf(visit);
  const approve = `Start it, and skip ${skipped} messages for good`;
  return html`<p>${requestedBy} proposed at ${time(requestedAt, visit.times)}: ${describeRealignment(realignment)}. ${foreign(reason)}</p>
${decide(visit, { action, requestedBy, approve, otherwise: 'the partition stays stopped', problem })}`;
}

async function act(submission: Submission): Promise<string> {
  const { upstream, field } = submission;
  const { service, place, path } = placeOf(submission);
  const what = choiceOf(field, 'what', ['realign', 'approve', 'reject']);
  const realigned = { ...place, to: field('to') ?? '', reason: field('reason') ?? '' };
  if (what !== 'realign') await upstream.call(service, positionOperations[what], { body: place });
  else await upstream.call(service, positionOperations.realign, { body: realigned });
  return path;
}
