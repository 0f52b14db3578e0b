import type { KafkaLog } from './client.ts';

const AGAIN_AFTER_MS = 10_000;
const FORGOTTEN_AFTER_MS = 600_000;

/**
 * Logs the same message about the same topic once in ten seconds, with how often it was left out. While Kafka is away
 * it would come several times a second.
 */
export function createThrottledLog(log: KafkaLog, nowMs: () => number): KafkaLog {
  const said = new Map<string, { atMs: number; leftOut: number }>();
  return (level, message, fields) => {
    const { topic } = fields;
    const key = typeof topic === 'string' ? `${message} ${topic}` : message;
    const before = said.get(key);
    if (before && nowMs() - before.atMs < AGAIN_AFTER_MS) {
      before.leftOut += 1;
      return;
    }
    for (const [old, { atMs }] of said) if (nowMs() - atMs > FORGOTTEN_AFTER_MS) said.delete(old);
    said.set(key, { atMs: nowMs(), leftOut: 0 });
    log(level, message, before && before.leftOut > 0 ? { ...fields, leftOut: before.leftOut } : fields);
  };
}
