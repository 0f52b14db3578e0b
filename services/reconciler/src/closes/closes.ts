import { accept, type Clock, DAY_MS, type Result, refuse } from '@pesewa/kernel';
import type { WindowPayments } from '../matching/payments.ts';
import type { CloseDocument, CloseStore } from './store.ts';

/** Daily closes (ADR 29): the payments that ended on a day and that nothing has compared, looked up at their rails. */
export type Closes = ReturnType<typeof createCloses>;

/** Named as the requester of closes that the clock starts. */
const NIGHTLY = 'nightly';
/** The results that rails are asked about once more if a person asks for the close again. */
const UNMATCHED = ['unclear', 'differs', 'not_at_rail'] as const;
/** How many days the nightly close looks back. */
const NIGHTLY_DAYS = 31;

/** Builds {@link Closes}. */
export function createCloses(deps: {
  readonly closeStore: Pick<CloseStore, 'create' | 'askAgain'>;
  readonly payments: Pick<WindowPayments, 'oldestUncompared'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How long the owners' events of a day may be late. */
  readonly lagMs: number;
  readonly keepDays: number;
  /** The rails whose statement is their close. */
  readonly byStatement: readonly string[];
  /** Called when there is a close whose payments must be looked for. */
  readonly opened: () => void;
}) {
  const { closeStore, payments, clock, lagMs, keepDays, byStatement } = deps;
  const open = async (
    from: Date,
    rail: string | null,
    by: string,
  ): Promise<Result<{ readonly run: CloseDocument; readonly isNew: boolean }, string>> => {
    const requestedAt = new Date(clock.nowMs());
    const to = new Date(from.getTime() + DAY_MS);
    const overAt = new Date(to.getTime() + lagMs);
    if (overAt > requestedAt)
      return refuse(
        `date: events of this day may still be on their way: it can be closed from ${overAt.toISOString()} on`,
      );
    const day = from.toISOString().slice(0, 10);
    const made = await closeStore.create({
      _id: rail === null ? day : `${day}.${rail}`,
      from,
      to,
      rail,
      requestedBy: by,
      requestedAt,
      stage: 'asking',
      running: true,
      dueAt: requestedAt,
      keepUntil: new Date(requestedAt.getTime() + keepDays * DAY_MS),
    });
    if (!made.isNew)
      await closeStore.askAgain(made.run._id, by === NIGHTLY ? ['unclear'] : UNMATCHED, requestedAt);
    deps.opened();
    // It is at work by now, whether it is new, was still asking, or was done.
    return accept({ ...made, run: { ...made.run, running: true } });
  };
  return {
    /**
     * Makes the close of a day (UTC, given by its midnight) at a rail or, if it is null, at all that send no statements, once;
     * gives the reason if the day is not over. A repetition gives the same close, which gets what was reported late.
     */
    open,
    /** Makes the closes over all rails of yesterday and of earlier days with payments that nothing has compared. */
    openDue: async () => {
      const uncompared = await payments.oldestUncompared();
      const ends = uncompared.flatMap(({ rail, endedAt }) =>
        byStatement.includes(rail) ? [] : endedAt.getTime(),
      );
      const oldestMs = Math.min(...ends);
      // A day counts as over once its events have had time to arrive.
      const todayMs = Math.floor((clock.nowMs() - lagMs) / DAY_MS) * DAY_MS;
      for (let before = NIGHTLY_DAYS; before > 0; before -= 1) {
        const fromMs = todayMs - before * DAY_MS;
        if (before === 1 || fromMs + DAY_MS > oldestMs) await open(new Date(fromMs), null, NIGHTLY);
      }
    },
  };
}
