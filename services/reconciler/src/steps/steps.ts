import type { Clock } from '@pesewa/kernel';
import { type Loop, leasesOf, type Messaging, startLoop, takeLease } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { Arrivals } from './arrivals.ts';
import { type FollowedStep, lookFromMs } from './following.ts';
import { createPages, type Page, type PageDeps } from './pages.ts';
import type { StepStore } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The dependencies of following steps. */
export interface StepDeps extends PageDeps, Pick<Arrivals, 'arrivedUntilMs'> {
  readonly watches: readonly StepWatch[];
  readonly stepStore: StepStore;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit'>;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const LEASE = { name: 'steps', durationMs: 15_000 } as const;
const BATCH = 200;

/**
 * Finds payments at a step of ours for too long, asks their owners to publish again what their records prove, and shows
 * people where that does not help (ADR 27); breaks over entries are closed by the events that come later.
 *
 * Each payment is checked when its longest time is over: a payment in order has moved on by then and costs one read at
 * most. A step counts as overdue only after everything that could still complete it has been applied. One replica
 * checks at a time; if two overlap, they find the same and write it once.
 */
export function startSteps(deps: StepDeps): Loop {
  const { messaging, logger, arrivedUntilMs } = deps;
  const write = createPages(deps);
  return startLoop({
    ...deps,
    name: 'reconciler steps',
    round: async (signal, processed) => {
      if (!(await takeLease(leasesOf(messaging.db), { ...LEASE, owner: messaging.owner }))) return false;
      const take = async (page: Page) => {
        const { overdue, due = overdue } = page;
        await write(page, signal);
        processed(due.length);
      };
      for (const watch of deps.watches) {
        const untilMs = arrivedUntilMs(watch.kind);
        if (untilMs === undefined) continue;
        // One gateway's database must not delay the others' payments.
        await check(deps, watch, untilMs, { take, signal }).catch((error: unknown) =>
          logger.error(
            { err: error, watch: Object.keys(watch.looks) },
            'steps could not be looked at; the next round does',
          ),
        );
      }
      return false;
    },
  });
}

/** Checks the payments of a watch, of which everything that was on its way until a time has arrived. */
async function check(
  { stepStore, clock }: StepDeps,
  watch: StepWatch,
  untilMs: number,
  round: { readonly take: (page: Page) => Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const { limitMs, judge } = watch;
  const to = new Date(untilMs - watch.overdueAfterMs);
  for (const [name, look] of Object.entries(watch.looks)) {
    const mark = await stepStore.mark(name, new Date(clock.nowMs()));
    const from = new Date(lookFromMs(mark.until.getTime(), limitMs));
    for await (const { references, until } of look(from, to)) {
      const overdue = await judge(references);
      await round.take({ limitMs, overdue, ...(watch.steps.includes('entry') && { compared: references }) });
      await stepStore.setMark(mark, until);
      if (round.signal.aborted) return;
    }
    const isWhole = mark.wholeAt !== undefined && mark.wholeAt > mark.askedAt;
    await stepStore.setMark(mark, to, isWhole ? undefined : new Date(clock.nowMs()));
  }
  let due: readonly FollowedStep[];
  do {
    due = await stepStore.due(watch, new Date(untilMs), BATCH);
    const overdue = due.length > 0 ? await judge(due.map(({ reference }) => reference)) : [];
    await round.take({ limitMs, overdue, due });
  } while (due.length === BATCH && !round.signal.aborted);
}
