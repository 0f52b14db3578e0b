import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';

/** Work that repeats until it is closed; closing waits for the current round. */
export interface Loop extends AsyncDisposable {
  /** Starts the next round now, or right after the current one. */
  readonly wake: () => void;
}

/**
 * Runs rounds one after another with a pause between them, which `wake` ends.
 *
 * A round returns true if there may be more work at once. A failed round is logged and repeated after the pause.
 */
export function startLoop(options: {
  readonly name: string;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly round: (signal: AbortSignal) => Promise<boolean>;
}): Loop {
  const closing = new AbortController();
  let woken = false;
  let pause = new AbortController();
  const wake = () => {
    woken = true;
    pause.abort();
  };
  const running = (async () => {
    while (!closing.signal.aborted) {
      woken = false;
      pause = new AbortController();
      const more = await options.round(closing.signal).catch((error: unknown) => {
        if (!closing.signal.aborted) options.logger.error({ err: error, loop: options.name }, 'round failed');
        return false;
      });
      if (!more && !woken && !closing.signal.aborted)
        await options.clock.sleep(options.pauseMs, pause.signal);
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
