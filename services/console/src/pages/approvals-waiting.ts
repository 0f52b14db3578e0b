import {
  breakOperations,
  type ConsumerGroup,
  consumerGroups,
  parkedOperations,
  positionOperations,
} from '@pesewa/contracts';
import { ClientError, describeRealignment, messageOf } from '@pesewa/operator-client';
import { pathTo } from '../view/links.ts';
import { isForbidden, type Visit } from '../visits.ts';
import { nameOf } from './break.ts';
import { pathOfPartition } from './consumers.ts';
import { describePause, pathOfResume, readPauses } from './pauses.ts';
import { type Proposal, proposalKinds } from './proposals.ts';

/** What one operator proposed and another must decide, on the page of its path. */
export interface Waiting extends Pick<Proposal, 'what' | 'path' | 'requestedBy' | 'requestedAt' | 'why'> {
  readonly kind: string;
}

/** What waits for a second operator, the newest of each kind, and why some of it is not known. */
export interface Inbox {
  readonly waiting: readonly Waiting[];
  /** Whether there is more than is read. */
  readonly isCut: boolean;
  readonly silent: readonly string[];
}

interface Found {
  readonly items: readonly Omit<Waiting, 'kind'>[];
  readonly next?: string | null;
}

const NEWEST = 50;

/** Reads everything that waits for a second operator; a service that gives no answer hides nothing of the others. */
export async function readInbox(visit: Visit): Promise<Inbox> {
  const silent = new Set<string>();
  const sources: readonly (readonly [kind: string, Promise<Found>])[] = [
    ...Object.values(proposalKinds).map(
      ({ noun, list }) => [noun, list(visit, { status: 'proposed' })] as const,
    ),
    ['resolution of a break', resolutions(visit)],
    ['end of a pause', resumes(visit)],
    ...consumerGroups.flatMap((service) => [
      ['discard of a message', discards(visit, service)] as const,
      ['start of a partition', realignments(visit, service)] as const,
    ]),
  ];
  const read = sources.map(async ([kind, reading]) => {
    const { items, next = null } = await reading.catch((error: unknown): Found => {
      if (!(error instanceof ClientError) || isForbidden(error)) throw error;
      silent.add(messageOf(error));
      return { items: [] };
    });
    const newest = items.slice(0, NEWEST).map((one) => ({ ...one, kind }));
    return { newest, isCut: next !== null || items.length > NEWEST };
  });
  const found = await Promise.all(read);
  return {
    waiting: found
      .flatMap(({ newest }) => newest)
      .toSorted((one, other) => other.requestedAt.localeCompare(one.requestedAt)),
    isCut: silent.size > 0 || found.some(({ isCut }) => isCut),
    silent: [...silent],
  };
}

async function resolutions({ upstream }: Visit): Promise<Found> {
  const query = { waitsForApproval: 'true', limit: NEWEST } as const;
  const { items, next } = await upstream.call('reconciler', breakOperations.list, { query });
  return {
    next,
    items: items.flatMap(({ proposedResolution: proposed, ...one }) =>
      proposed === undefined
        ? []
        : {
            what: `Resolve ${nameOf(one)}`,
            path: pathTo('break', one.id),
            requestedBy: proposed.by,
            requestedAt: proposed.at,
            why: proposed.resolution,
          },
    ),
  };
}

async function discards({ upstream }: Visit, service: ConsumerGroup): Promise<Found> {
  const { items, next } = await upstream.call(service, parkedOperations.list, { query: { state: 'parked' } });
  return {
    next,
    items: items.flatMap(({ id, discard }) =>
      discard?.status === 'proposed'
        ? { ...discard, what: `Discard ${id}`, path: pathTo('parked', id), why: discard.reason }
        : [],
    ),
  };
}

async function realignments({ upstream }: Visit, service: ConsumerGroup): Promise<Found> {
  const { items } = await upstream.call(service, positionOperations.list, {});
  return {
    items: items.flatMap(({ realignment, ...place }) => {
      if (realignment?.status !== 'proposed') return [];
      const what = `${service}, ${place.topic} ${place.partition}: ${describeRealignment(realignment)}`;
      return { ...realignment, what, path: pathOfPartition(service, place), why: realignment.reason };
    }),
  };
}

async function resumes(visit: Visit): Promise<Found> {
  const pauses = await readPauses(visit);
  return {
    items: pauses.flatMap(({ resumeProposedBy: by, reason, pausedAt, ...pause }) => {
      if (by === null) return [];
      const what = `Resume ${describePause(pause)}`;
      return { what, path: pathOfResume(pause), requestedBy: by, requestedAt: pausedAt, why: reason };
    }),
  };
}
