import { pauseOperations } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { answer, refused, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Db } from 'mongodb';
import { type IsPaused, openPauses, type PauseSubject, type Pauses } from './pauses.ts';

/** The dependencies of {@link addPauseRoutes}. */
export interface PauseRouteDeps {
  readonly pauses: Pick<Pauses, 'list' | 'pause' | 'resume'>;
  /** The configured rails. */
  readonly rails: readonly { readonly name: string }[];
  readonly findMerchant: (id: string) => Promise<object | undefined>;
}

/** Opens the pauses of a gateway, with their routes; they close with the scope. */
export async function addPauses(
  scope: Pick<ServiceScope<object>, 'open' | 'operator' | 'clock' | 'logger'>,
  { db, ...known }: { readonly db: Db } & Omit<PauseRouteDeps, 'pauses'>,
): Promise<IsPaused> {
  const pauses = await scope.open('pauses', openPauses({ ...scope, db }));
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
    resume: async ({ body, operator: by }) => {
      const subject = subjectOf(body);
      if (!subject.ok) return refused('invalid', subject.refusal);
      const resumed = await pauses.resume(subject.value, by);
      if (!resumed.ok) return refused('not_found', 'this is not paused');
      const { proposed } = resumed.value;
      return proposed === null ? answer(200, { resumed: true as const }) : answer(202, proposed);
    },
  });
}

function subjectOf({ scope, name = '' }: Named): Result<PauseSubject, string> {
  if (scope === 'all') return name === '' ? accept({ scope, name }) : refuse('name: all has none');
  return name === '' ? refuse(`name: which ${scope}?`) : accept({ scope, name });
}

interface Named {
  readonly scope: PauseSubject['scope'];
  readonly name?: string | undefined;
}
