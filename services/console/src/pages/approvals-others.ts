import {
  type ConsumerGroup,
  consumerGroups,
  type PauseView,
  parkedOperations,
  positionOperations,
} from '@pesewa/contracts';
import { ClientError, describeRealignment, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, pathOf } from '../view/html.ts';
import { tableOf } from '../view/table.ts';
import { age } from '../view/values.ts';
import type { Visit } from '../visits.ts';
import { pathOfPartition } from './consumers.ts';
import { describePause, pathOfResume, readPauses } from './pauses.ts';

/** What one operator proposed that is decided on a page of its own. */
interface Proposed extends Pick<PauseView, 'reason'> {
  readonly what: string;
  readonly path: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
}

/** What else waits for a second operator: discards of parked messages, realignments, ends of pauses. */
export async function listOthers(visit: Visit): Promise<Html> {
  const { times, operator } = visit;
  const silent: string[] = [];
  const unlessSilent = async (reading: Promise<readonly Proposed[]>) => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      silent.push(messageOf(error));
      return [];
    }
  };
  const ofServices = consumerGroups.flatMap((service) => [
    discards(visit, service),
    realignments(visit, service),
  ]);
  const found = await Promise.all([...ofServices, resumes(visit)].map(unlessSilent));
  const shown = tableOf(
    'Each is decided where it stands',
    found.flat(),
    [
      ['What', ({ what, path }) => link(path, foreign(what))],
      ['Proposed by', ({ requestedBy: by }) => (by === operator.name ? 'you' : foreign(by))],
      ['Age', ({ requestedAt }) => age(requestedAt, times)],
      ['Why', ({ reason }) => foreign(reason)],
    ],
    'No discard of a parked message, no realignment and no end of a pause waits for another operator.',
  );
  return html`${silent.map((why) => html`<p class="problem" role="alert">Not available: ${why}</p>`)}${shown}`;
}

async function discards({ upstream }: Visit, service: ConsumerGroup): Promise<readonly Proposed[]> {
  const { items } = await upstream.call(service, parkedOperations.list, { query: { state: 'parked' } });
  return items.flatMap(({ id, discard }) =>
    discard?.status === 'proposed'
      ? [{ ...discard, what: `Discard ${id}`, path: pathOf(['webhooks', 'parked', id]) }]
      : [],
  );
}

async function realignments({ upstream }: Visit, service: ConsumerGroup): Promise<readonly Proposed[]> {
  const { items } = await upstream.call(service, positionOperations.list, {});
  return items.flatMap(({ realignment, ...place }) => {
    if (realignment?.status !== 'proposed') return [];
    const what = `${service}, ${place.topic} ${place.partition}: ${describeRealignment(realignment)}`;
    return [{ ...realignment, what, path: pathOfPartition(service, place) }];
  });
}

async function resumes(visit: Visit): Promise<readonly Proposed[]> {
  return (await readPauses(visit)).flatMap(({ resumeProposedBy: by, reason, pausedAt, ...pause }) => {
    if (by === null) return [];
    const what = `Resume ${describePause(pause)}`;
    return [{ what, path: pathOfResume(pause), requestedBy: by, requestedAt: pausedAt, reason }];
  });
}
