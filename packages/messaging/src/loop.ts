import type { Clock } from '@pesewa/kernel';
import { beginRound, type Logger, type ReportProcessed } from '@pesewa/runtime';

/** Work that repeats until it is closed; closing waits for the current round. */
export interface Loop extends AsyncDisposable {
  /** Starts the next round now, or right after the current one. */
  readonly wake: () => void;
}

/**
 * Runs rounds one after another, with a pause in between that shrinks to nothing when woken.
 *
 * A round returns true when there may be more to do at once. One that did something has a span; one that fails is logged and
 * repeated after the pause.
 */
export function startLoop(options: {
  readonly name: string;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly round: (signal: AbortSignal, processed: ReportProcessed) => Promise<boolean>;
}): Loop {
  const closing = new AbortController();
  let woken = false;
  let pause = new AbortController();
  const wake = () => {
    woken = true;
    pause.abort();
  };
  const { name, clock, logger } = options;
  const round = async (): Promise<boolean> => {
    const { processed, end } = beginRound(name, clock);
    try {
      return await options.round(closing.signal, processed);
    } catch (error) {
      if (!closing.signal.aborted) logger.error({ err: error, loop: name }, 'round failed');
      return false;
    } finally {
      end();
    }
  };
  const running = (async () => {
    while (!closing.signal.aborted) {
      woken = false;
      pause = new AbortController();
      const more = await round();
      if (!more && !woken && !closing.signal.aborted) await clock.sleep(options.pauseMs, pause.signal);
    }
  })();
  return {
    wake,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      wake();
      await running;
    },
  };
}
