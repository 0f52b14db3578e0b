import { expect, it } from 'vitest';
import type { Logger } from './logger.ts';
import { createThrottledLog } from './throttled-log.ts';

it('says the same once in ten seconds, and how often it was left out', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const lineOf = (level: string) => (fields: object, message: string) =>
    void lines.push([level, message, fields]);
  const logger = { warn: lineOf('warn'), error: lineOf('error') } as unknown as Pick<
    Logger,
    'warn' | 'error'
  >;
  const log = createThrottledLog(logger, { nowMs: () => nowMs });
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
