import type { Clock } from '@pesewa/kernel';
import { Gauge, type Registry } from 'prom-client';

/** How long a metric may wait for its value; the server gives up at the same time. */
export const METRIC_TIMEOUT_MS = 1_000;

/** Values with their labels. */
export type Values<Label extends string> = readonly (readonly [Readonly<Record<Label, string>>, number])[];

/**
 * Registers a gauge that is read at each scrape. It has the values of that reading only: one, or one for each of its
 * labels; null or undefined gives it none.
 */
export function gauge<Label extends string = never>({
  registry,
  read,
  ...about
}: {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labelNames?: Label[];
  readonly read: () => Promise<Values<Label> | number | null | undefined>;
}): void {
  const one: Gauge<Label> = new Gauge({
    ...about,
    registers: [registry],
    collect: async () => {
      const found = await read();
      // Without labels a reset gauge would have the value 0, and not none.
      if (about.labelNames) one.reset();
      else one.remove();
      if (typeof found === 'number') one.set(found);
      else for (const [labels, value] of found ?? []) one.set(labels, value);
    },
  });
}

/** The time since then in seconds, never negative. */
export function ageSeconds(since: Date | number, clock: Pick<Clock, 'nowMs'>): number {
  return Math.max(0, clock.nowMs() - Number(since)) / 1_000;
}
