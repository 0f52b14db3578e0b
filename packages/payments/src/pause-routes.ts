import { pauseOperations } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { answer, refusalsAs, refused, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { type IsPaused, openPauses, type PauseSubject, type Pauses } from './pauses.ts';

/** The dependencies of {@link addPauseRoutes}. */
export interface PauseRouteDeps {
  readonly pauses: Pick<Pauses, 'list' | 'pause' | 'propose' | 'approve'>;
  /** The configured rails. */
  readonly rails: readonly { readonly name: string }[];
  readonly findMerchant: (id: string) => Promise<object | undefined>;
}

/** Opens the pauses of a gateway, with their routes; they are told with its health, and close with the scope. */
export async function addPauses(
  scope: Pick<ServiceScope<object>, 'open' | 'operator' | 'clock' | 'logger'>,
  { db, showWaiting }: Pick<Messaging, 'db' | 'showWaiting'>,
  known: Omit<PauseRouteDeps, 'pauses'>,
): Promise<IsPaused> {
  const pauses = await scope.open('pauses', openPauses({ ...scope, db }));
  showWaiting({ pauses: async () => [...pauses.list()] });
  addPauseRoutes(scope.operator, { ...known, pauses });
  return pauses.isPaused;
}

/** Adds the routes by which operators pause and resume a gateway (ADR 77). */
export function addPauseRoutes(operator: Hono, { pauses, rails, findMerchant }: PauseRouteDeps): void {
  const railNames = rails.map(({ name }) => name);
  serveOperations(operator, pauseOperations, {
    list: () => answer(200, { items: [...pauses.list()], next: null }),
    pause: async ({ body: { reason, ...named }, operator: by }) => {
      const subject = subjectOf(named);
      if (!subject.ok) return refused('invalid', subject.refusal);
      const { scope, name } = subject.value;
      if (scope === 'rail' && !railNames.includes(name))
        return refused('not_found', `name: there is no rail ${name} here, but ${railNames.join(', ')}`);
      if (scope === 'merchant' && (await findMerchant(name)) === undefined)
        return refused('not_found', `name: there is no merchant ${name}`);
      return answer(200, await pauses.pause(subject.value, reason, by));
    },
    resume: async ({ body: { approves, pausedAt, ...named }, operator: by }) => {
      const subject = subjectOf(named);
      if (!subject.ok) return refused('invalid', subject.refusal);
      const pause = { ...subject.value, pausedAt: new Date(pausedAt) };
      if (approves !== undefined) {
        const resumed = await pauses.approve(pause, { by, approves });
        return resumed.ok ? answer(200, { resumed: true as const }) : refuseResume(resumed.refusal);
      }
      const proposed = await pauses.propose(pause, by);
      if (!proposed.ok) return refuseResume(proposed.refusal);
      const { resumeProposedBy: proposer } = proposed.value;
      if (proposer === by) return answer(202, proposed.value);
      const message = `${proposer} has proposed to resume it: an approver resumes it with approves: "${proposer}"`;
      return refused('proposed_already', message);
    },
  });
}

const refuseResume = refusalsAs({
  'pause.unknown': ['not_found', 'this is not paused'],
  'pause.changed': ['changed', 'pausedAt: it was paused anew since you looked: list the pauses'],
  'pause.same_operator': [
    'same_operator',
    'approves: you proposed to resume it: another operator must approve that',
  ],
  'pause.not_proposed': [
    'not_proposed',
    'approves: this operator does not propose to resume it: list the pauses',
  ],
});

function subjectOf({ scope, name = '' }: Named): Result<PauseSubject, string> {
  if (scope === 'all') return name === '' ? accept({ scope, name }) : refuse('name: all has none');
  return name === '' ? refuse(`name: which ${scope}?`) : accept({ scope, name });
}

interface Named {
  readonly scope: PauseSubject['scope'];
  readonly name?: string | undefined;
}
