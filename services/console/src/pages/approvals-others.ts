import { consumerGroups, parkedOperations, pauseOperations, positionOperations } from '@pesewa/contracts';
import { messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, foreign, type Html, link, pathOf } from '../view/html.ts';
import { table } from '../view/table.ts';
import { age } from '../view/values.ts';
import type { Visit } from '../visits.ts';

/** What else waits for a second operator: discards of parked messages, realignments, ends of pauses. */
export async function listOthers(visit: Visit): Promise<Html> {
  const read = [
    ...consumerGroups.flatMap((service) => [discards(visit, service), realignments(visit, service)]),
    ...(['payout-gateway', 'collection-gateway'] as const).map((service) => resumes(visit, service)),
  ];
  const found = await Promise.allSettled(read);
  const silent = found.flatMap((one) => {
    if (one.status === 'fulfilled') return [];
    if (one.reason instanceof RefusedError || one.reason instanceof Error) return [messageOf(one.reason)];
    throw one.reason;
  });
  return html`${silent.map((why) => html`<p class="problem">Not available: ${why}</p>`)}${table({
    caption: 'Each is decided where it stands',
    columns: ['What', 'Proposed by', 'Age', 'Why', 'Whose'],
    rows: found.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])),
    empty: 'No discard of a parked message, no realignment and no end of a pause waits for another operator.',
  })}`;
}

type Rows = readonly (readonly Content[])[];
type Consumer = (typeof consumerGroups)[number];

const whose = ({ operator }: Visit, by: string): string => (by === operator.name ? 'mine' : 'for me');

async function discards(visit: Visit, service: Consumer): Promise<Rows> {
  const query = { state: 'parked' } as const;
  const { items } = await visit.upstream.call(service, parkedOperations.list, { query });
  return items.flatMap(({ id, discard }) =>
    discard?.status !== 'proposed'
      ? []
      : [
          [
            html`Discard ${link(pathOf(['webhooks', 'parked'], { service }), id)}`,
            foreign(discard.requestedBy),
            age(discard.requestedAt, visit.times),
            foreign(discard.reason),
            whose(visit, discard.requestedBy),
          ],
        ],
  );
}

async function realignments(visit: Visit, service: Consumer): Promise<Rows> {
  const { items } = await visit.upstream.call(service, positionOperations.list, {});
  return items.flatMap(({ topic, partition, realignment: one }) =>
    one?.status !== 'proposed'
      ? []
      : [
          [
            `${service} skips ${one.skipped} messages of ${topic}, partition ${partition}, and goes on at ${one.next}`,
            foreign(one.requestedBy),
            age(one.requestedAt, visit.times),
            foreign(one.reason),
            whose(visit, one.requestedBy),
          ],
        ],
  );
}

async function resumes(visit: Visit, service: 'payout-gateway' | 'collection-gateway'): Promise<Rows> {
  const { items } = await visit.upstream.call(service, pauseOperations.list, {});
  const what = service === 'payout-gateway' ? 'payouts' : 'collections';
  return items.flatMap(({ scope, name, reason, pausedAt, resumeProposedBy: by }) => {
    if (by === null) return [];
    const subject =
      name === null
        ? 'of all merchants'
        : link(pathOf([scope === 'rail' ? 'rails' : 'merchants', name]), name);
    return [
      [
        html`Resume ${what}: ${subject}`,
        foreign(by),
        age(pausedAt, visit.times),
        foreign(reason),
        whose(visit, by),
      ],
    ];
  });
}
