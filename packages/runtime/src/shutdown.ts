import { type Clock, DeadlineError, withDeadline } from '@pesewa/kernel';
import type { Logger } from './logger.ts';

/** The open resources of a process, to be closed one after another in reverse order, within a time. */
export interface Shutdown {
  /**
   * Registers a resource, with the name of its step in the log. If closing has begun, the resource is closed at once
   * and this rejects.
   */
  readonly open: <Resource extends AsyncDisposable>(
    name: string,
    resource: Resource | Promise<Resource>,
  ) => Promise<Resource>;
  readonly hasBegun: () => boolean;
  /** Closes everything; gives the names of the steps that failed or did not end in time. */
  readonly close: () => Promise<readonly string[]>;
}

interface Step {
  readonly name: string;
  readonly resource: AsyncDisposable;
}

/**
 * Builds a {@link Shutdown} that takes less than `withinMs`. Each step may take half of the remaining time, so that a
 * hanging one is skipped and all later steps still get time.
 */
export function createShutdown(deps: {
  readonly withinMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly monotonicMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}): Shutdown {
  const { clock, monotonicMs, logger } = deps;
  const steps: Step[] = [];
  let begun = false;

  async function closeStep({ name: step, resource }: Step, timeoutMs: number): Promise<boolean> {
    const startedMs = monotonicMs();
    const durationMs = () => Math.round(monotonicMs() - startedMs);
    try {
      const closing = Promise.resolve().then(() => resource[Symbol.asyncDispose]());
      await withDeadline(Promise.resolve(closing), timeoutMs, clock);
      logger.info({ step, durationMs: durationMs() }, 'closed');
      return true;
    } catch (error) {
      const text =
        error instanceof DeadlineError ? 'does not close, going on without it' : 'broke while it closed';
      logger.error({ err: error, step, durationMs: durationMs() }, text);
      return false;
    }
  }

  return {
    open: async (name, resource) => {
      const opened = await resource;
      if (begun) {
        await closeStep({ name, resource: opened }, deps.withinMs);
        throw new Error(`${name} was opened while the process closes`);
      }
      steps.push({ name, resource: opened });
      return opened;
    },
    hasBegun: () => begun,
    close: async () => {
      begun = true;
      const endMs = monotonicMs() + deps.withinMs;
      const failed: string[] = [];
      for (const step of steps.splice(0).toReversed()) {
        const isClosed = await closeStep(step, Math.max(0, endMs - monotonicMs()) / 2);
        if (!isClosed) failed.push(step.name);
      }
      return failed;
    },
  };
}
