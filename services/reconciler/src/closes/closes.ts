import { accept, type Clock, DAY_MS, type Result } from '@pesewa/kernel';
import type { Window, WindowPayments } from '../matching/payments.ts';
import type { CloseDocument, CloseStore } from './store.ts';
import { closeIdOf, judgeWindow, nightlyDays, type WindowRefusal } from './window.ts';

/** Daily closes (ADR 29): the payments of a window, looked up again at their rails and matched. */
export type Closes = ReturnType<typeof createCloses>;

/** Named as the requester of closes that the clock starts. */
const NIGHTLY = 'nightly';

/** Builds {@link Closes}. */
export function createCloses(deps: {
  readonly closeStore: Pick<CloseStore, 'create' | 'lookForLate'>;
  readonly payments: Pick<WindowPayments, 'oldestUncompared'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How long the owners' events of a window may be late. */
  readonly lagMs: number;
  readonly keepDays: number;
  /** The rails whose statement is their close. */
  readonly byStatement: readonly string[];
  /** Called when there is a close whose payments must be read or looked for. */
  readonly opened: () => void;
}) {
  const { closeStore, payments, clock, lagMs, keepDays, byStatement } = deps;
  const open = async (
    window: Window,
    by: string,
  ): Promise<Result<{ readonly run: CloseDocument; readonly isNew: boolean }, WindowRefusal>> => {
    const requestedAt = new Date(clock.nowMs());
    const judged = judgeWindow(window, requestedAt.getTime(), lagMs);
    if (!judged.ok) return judged;
    const made = await closeStore.create({
      _id: closeIdOf(window),
      ...window,
      requestedBy: by,
      requestedAt,
      stage: 'gathering',
      running: true,
      dueAt: requestedAt,
      keepUntil: new Date(requestedAt.getTime() + keepDays * DAY_MS),
    });
    if (!made.isNew) await closeStore.lookForLate([made.run._id], requestedAt);
    deps.opened();
    return accept(made);
  };
  return {
    /** Makes the close over a window, once; a repetition gives the same one, which gets what was reported late. */
    open,
    /** Makes the closes over all rails of yesterday and of earlier days with payments that nothing has compared. */
    openDue: async () => {
      const uncompared = await payments.oldestUncompared();
      const asked = uncompared.filter(({ rail }) => !byStatement.includes(rail));
      const [oldest] = asked
        .map(({ endedAt }) => endedAt)
        .toSorted((one, other) => Number(one) - Number(other));
      // A day counts as over once its events have had time to arrive.
      for (const day of nightlyDays(clock.nowMs() - lagMs, oldest)) await open(day, NIGHTLY);
    },
  };
}
