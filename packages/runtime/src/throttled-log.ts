import type { Clock } from '@pesewa/kernel';
import type { Logger } from './logger.ts';

const AGAIN_AFTER_MS = 10_000;
const FORGOTTEN_AFTER_MS = 600_000;

/**
 * Logs the same message about the same topic once in ten seconds, with how often it was left out: what comes by the
 * thousand, or several times a second while Kafka is away, must not fill the log.
 */
export function createThrottledLog<Level extends 'info' | 'warn' | 'error'>(
  logger: Pick<Logger, Level>,
  clock: Pick<Clock, 'nowMs'>,
): (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void {
  const said = new Map<string, { atMs: number; leftOut: number }>();
  return (level, message, fields = {}) => {
    const { topic } = fields;
    const key = typeof topic === 'string' ? `${message} ${topic}` : message;
    const nowMs = clock.nowMs();
    const before = said.get(key);
    if (before && nowMs - before.atMs < AGAIN_AFTER_MS) {
      before.leftOut += 1;
      return;
    }
    for (const [old, { atMs }] of said) if (nowMs - atMs > FORGOTTEN_AFTER_MS) said.delete(old);
    said.set(key, { atMs: nowMs, leftOut: 0 });
    logger[level](before && before.leftOut > 0 ? { ...fields, leftOut: before.leftOut } : fields, message);
  };
}
