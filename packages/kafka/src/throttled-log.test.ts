import { expect, it } from 'vitest';
import { createThrottledLog } from './throttled-log.ts';

it('says the same once in ten seconds, and how often it was left out', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const log = createThrottledLog(
    (level, message, fields) => void lines.push([level, message, fields]),
    () => nowMs,
  );
  for (nowMs = 0; nowMs < 12_000; nowMs += 1_000) log('error', 'Kafka is away', { reason: 'refused' });
  log('warn', 'something else', { topic: 'a' });
  log('warn', 'something else', { topic: 'b' });
  expect(lines).toEqual([
    ['error', 'Kafka is away', { reason: 'refused' }],
    ['error', 'Kafka is away', { reason: 'refused', leftOut: 9 }],
    ['warn', 'something else', { topic: 'a' }],
    ['warn', 'something else', { topic: 'b' }],
  ]);
});
