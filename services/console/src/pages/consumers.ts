import {
  type ConsumerGroup,
  consumerGroups,
  dryRunOf,
  type MessagingService,
  messagingServices,
  type PositionView,
  positionOperations,
} from '@pesewa/contracts';
import { describeRealignment, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import { reasonField } from '../view/form.ts';
import { type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { type Columns, cells, facts, tableOf, twoLines } from '../view/table.ts';
import { counted, state, time, words } from '../view/values.ts';
import { type Given, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { healthOf, SERVICES } from './health.ts';

/** How each service stands, also in its topics, and what starts a stopped partition (ADR 43). */
export function addConsumerPages(routes: Routes): void {
  routes.page(SERVICES, async (visit) => {
    const ofOne = async (name: MessagingService) => {
      const group = consumerGroups.find((one) => one === name);
      const [health, partitions] = [part(healthOf(visit, name)), group && part(ofService(visit, group))];
      return section(name, html`${await health}${await partitions}`);
    };
    return { title: 'Services', body: await Promise.all(messagingServices.map(ofOne)) };
  });
  addChange(routes, '/rails/consumers/:service/:topic/:partition', ask, act);
}

async function ofService({ upstream }: Visit, service: ConsumerGroup): Promise<Html> {
  const { items } = await upstream.call(service, positionOperations.list, {});
  const stopped = items.filter((one) => one.state === 'stopped');
  const lag = items.reduce((sum, one) => sum + BigInt(one.lag ?? 0), 0n);
  const linked = (one: PositionView) =>
    link(pathOfPartition(service, one), `partition ${one.partition} of ${one.topic}`);
  const caption = `Every partition that ${service} consumes`;
  const all = tableOf(caption, items, [['Partition', linked], ...columns], 'It consumes nothing.');
  const reasons = stopped.map(
    (one) => html`<p class="problem">Stopped: ${linked(one)}. ${one.reason}. ${one.remedy}</p>`,
  );
  return html`${reasons}<details><summary>${counted(items.length, 'partition')}, ${stopped.length} of them stopped; ${counted(Number(lag), 'message waits', 'messages wait')}</summary>${all}</details>`;
}

const columns: Columns<PositionView> = [
  ['State', (one) => state(one.state)],
  [
    'Next message',
    ({ stored, kafka }) =>
      twoLines(
        stored?.next ?? 'none is known',
        `Kafka keeps ${kafka.low} to ${kafka.high}, and has ${kafka.committed ?? 'nothing'} committed`,
      ),
  ],
  ['Messages that wait', ({ lag }) => lag ?? 'not known', 'number'],
];

/** Where a consumer's position in a partition is shown and changed. */
const pathOfPartition = (
  service: ConsumerGroup,
  { topic, partition }: Pick<PositionView, 'topic' | 'partition'>,
) => pathOf(['rails', 'consumers', service, topic, String(partition)]);

function placeOf({ part: of }: Visit) {
  const service = consumerGroups.find((name) => name === of('service'));
  const place = { topic: of('topic'), partition: Number(of('partition')) };
  if (service) return { service, place, path: pathOfPartition(service, place) };
  throw new RefusedError(`there is no consumer ${of('service')}`, 404);
}

/** A stopped partition is started with what Kafka keeps. */
async function ask(visit: Visit, given: Given): Promise<Change> {
  const { service, place } = placeOf(visit);
  const { items } = await visit.upstream.call(service, positionOperations.list, {});
  const one = items.find(({ topic, partition }) => topic === place.topic && partition === place.partition);
  if (!one)
    throw new RefusedError(`${service} does not consume ${place.topic} ${visit.part('partition')}`, 404);
  const isStopped = one.state === 'stopped';
  return {
    title: `Partition ${place.partition} of ${place.topic} at ${service}: ${inWords(one.state)}`,
    about: html`${isStopped ? html`<p class="problem">${one.reason}. ${one.remedy}</p>` : nothing}${section('Facts', factsOf(visit, one))}`,
    role: isStopped ? 'operator' : 'viewer',
    ...(isStopped && { fields: [reasonField], foresee: () => foresee(visit, given) }),
    back: [SERVICES, 'All services'],
  };
}

function factsOf({ times }: Visit, one: PositionView): Html {
  const { mismatch, realignment: last } = one;
  return facts([
    ...cells(columns, one),
    ['What does not fit', mismatch === undefined ? undefined : inWords(mismatch)],
    [
      'Last realignment',
      last && html`by ${last.requestedBy} at ${time(last.requestedAt, times)}: ${words(last.reason, times)}`,
    ],
  ]);
}

async function foresee(visit: Visit, given: Given): Promise<Foreseen> {
  const { service, place } = placeOf(visit);
  const body = { ...place, reason: given('reason') ?? '', dryRun: true };
  const { plan } = await visit.upstream.call(service, dryRunOf(positionOperations.realign), { body });
  const { next, appliedAgain } = plan;
  return {
    shown: html`<p>${describeRealignment(plan)}. What is applied again has no second effect; what is gone never takes effect.</p>`,
    submit: `Start at ${next}: ${appliedAgain} applied again`,
  };
}

async function act(submission: Submission): Promise<string> {
  const { upstream, field } = submission;
  const { service, place, path } = placeOf(submission);
  const body = { ...place, reason: field('reason') ?? '' };
  await upstream.call(service, positionOperations.realign, { body });
  return path;
}
