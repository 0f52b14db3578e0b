import { accept, type Clock, type Result } from '@pesewa/kernel';
import type { CloseCounts, CloseDocument, CloseRecord, CloseStore, RecordQuery } from './store.ts';
import {
  type CloseWindow,
  closeIdOf,
  dayFrom,
  daysToClose,
  daysToReadAgain,
  judgeWindow,
  type WindowRefusal,
} from './window.ts';

/** A close, and how far it is. */
export interface CloseProgress {
  readonly close: CloseDocument;
  /** Null while there are too many to count. */
  readonly counts: CloseCounts | null;
}

/** What a close over a window would ask for. */
export interface ClosePreview {
  readonly id: string;
  readonly window: CloseWindow;
  /** Whether there is one already, which would be given instead. */
  readonly exists: boolean;
  /** By rail; null where they are too many to count. */
  readonly payments: ReadonlyMap<string, number> | null;
}

/** Daily closes (ADR 29): each window of payments, asked for again at their rails and matched. */
export interface Closes {
  /** Makes the close over a window, once: the same again is the same one. */
  readonly open: (
    window: CloseWindow,
    by: string,
  ) => Promise<Result<CloseProgress & { readonly isNew: boolean }, WindowRefusal>>;
  /** Tells what it would ask for, and makes none. */
  readonly preview: (window: CloseWindow) => Promise<Result<ClosePreview, WindowRefusal>>;
  /**
   * Makes those over all rails of yesterday, and of the days before that nobody has closed; those of the week that are done
   * are read once more, so that an end that was told of late is in a close too.
   */
  readonly openDue: () => Promise<void>;
  readonly find: (id: string) => Promise<CloseProgress | undefined>;
  /** The newest window first; `before` is the id of the last one before. */
  readonly list: (query: {
    readonly before?: string | undefined;
    readonly limit: number;
  }) => Promise<readonly CloseProgress[]>;
  /** Records in the order of their references; whoever reads them ends the reading. */
  readonly records: (query: RecordQuery) => AsyncIterable<CloseRecord>;
}

/** Who asks for closes that the clock calls for. */
const NIGHTLY = 'nightly';
const DAY_MS = 86_400_000;

/** Builds {@link Closes}. */
export function createCloses(deps: {
  readonly closeStore: Omit<CloseStore, 'closes' | 'records' | 'newestDone' | 'readWindow'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How long the owners' events of a window may take. */
  readonly settleMs: number;
  readonly keepDays: number;
  /** Called when there is a close whose payments are to be read. */
  readonly opened: () => void;
}): Closes {
  const { closeStore, clock, settleMs, keepDays } = deps;
  const progressOf = async (close: CloseDocument): Promise<CloseProgress> => ({
    close,
    counts: close.counts ?? (await closeStore.countRecords(close._id)),
  });
  const open: Closes['open'] = async (window, by) => {
    const requestedAt = new Date(clock.nowMs());
    const judged = judgeWindow(window, requestedAt.getTime(), settleMs);
    if (!judged.ok) return judged;
    const { close, isNew } = await closeStore.create({
      _id: closeIdOf(window),
      ...window,
      requestedBy: by,
      requestedAt,
      stage: 'gathering',
      running: true,
      added: 0,
      keepUntil: new Date(requestedAt.getTime() + keepDays * DAY_MS),
    });
    if (isNew) deps.opened();
    return accept({ ...(await progressOf(close)), isNew });
  };
  return {
    open,
    preview: async (window) => {
      const judged = judgeWindow(window, clock.nowMs(), settleMs);
      if (!judged.ok) return judged;
      const id = closeIdOf(window);
      const exists = (await closeStore.find(id)) !== undefined;
      return accept({ id, window, exists, payments: await closeStore.countWindow(window) });
    },
    openDue: async () => {
      // Yesterday is over for us once its events have had their time.
      const nowMs = clock.nowMs() - settleMs;
      for (const day of daysToClose(await closeStore.days(), nowMs)) {
        await open(dayFrom(day, null), NIGHTLY);
      }
      await closeStore.readAgain(daysToReadAgain(nowMs), new Date(clock.nowMs()));
      deps.opened();
    },
    find: async (id) => {
      const close = await closeStore.find(id);
      return close && progressOf(close);
    },
    list: async (query) => Promise.all((await closeStore.list(query)).map(progressOf)),
    records: closeStore.readRecords,
  };
}
