import { type Clock, DeadlineError, withDeadline } from '@pesewa/kernel';
import type { Logger } from './logger.ts';

/** A resource that can be closed in order, after its work in progress has ended. */
export interface Endable extends AsyncDisposable {
  /** How long closing may take; this time is reserved, however long the steps before it take. A moment by default. */
  readonly endsWithinMs?: number;
}

/** The open resources of a process, to be closed one after another in reverse order, within a time. */
export type Shutdown = ReturnType<typeof createShutdown>;

interface Step {
  readonly name: string;
  readonly resource: Endable;
}

/** The time that every step has in addition to the time that it names. */
const MOMENT_MS = 250;

const needMs = ({ resource }: Step): number => MOMENT_MS + (resource.endsWithinMs ?? 0);

const sumMs = (steps: readonly Step[]): number => steps.reduce((sum, step) => sum + needMs(step), 0);

/**
 * Builds a {@link Shutdown} that takes at most `withinMs`. Each step may take the remaining time minus what the later
 * steps need, so a step that hangs is abandoned and takes no time from them.
 *
 * Opening what would need more than `withinMs` together is refused.
 */
export function createShutdown(deps: {
  readonly withinMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly monotonicMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}) {
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
    /**
     * Registers a resource, with the name of its step in the log. If closing has begun, the resource is closed at once
     * and this rejects.
     */
    open: async <Resource extends Endable>(
      name: string,
      resource: Resource | Promise<Resource>,
    ): Promise<Resource> => {
      const opened = await resource;
      if (begun) {
        await closeStep({ name, resource: opened }, deps.withinMs);
        throw new Error(`${name} was opened while the process closes`);
      }
      steps.push({ name, resource: opened });
      if (sumMs(steps) > deps.withinMs)
        throw new RangeError(`${name}: the steps of the end need more than ${deps.withinMs} ms`);
      return opened;
    },
    hasBegun: () => begun,
    /** Closes everything; gives the names of the steps that failed or did not end in time. */
    close: async (): Promise<readonly string[]> => {
      begun = true;
      const endMs = monotonicMs() + deps.withinMs;
      const failed: string[] = [];
      for (let step = steps.pop(); step; step = steps.pop()) {
        const leftMs = endMs - monotonicMs() - sumMs(steps);
        if (!(await closeStep(step, Math.max(needMs(step), leftMs)))) failed.push(step.name);
      }
      return failed;
    },
  };
}
