import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from './logger.ts';

const CANARY = 'canary-0712345678';

/** Like the driver's error, which carries the documents that were not written. */
class FakeBulkWriteError extends Error {
  readonly code = 11_000;
  readonly codeName = 'DuplicateKey';
  readonly errorLabels = ['TransientTransactionError', { note: CANARY }];
  readonly writeErrors = [{ err: { op: { accountName: CANARY } } }];
  readonly op = { q: { note: CANARY } };
  readonly result = { insertedIds: { 0: CANARY } };
  readonly errorResponse = { keyValue: { reference: CANARY } };
  readonly [CANARY] = true;
}

const bulkWriteError = (cause?: unknown) =>
  new FakeBulkWriteError(
    `E11000 duplicate key error collection: payouts index: reference_1 dup key: { a: "x",\n    at ${CANARY} }`,
    { cause },
  );

const errorLine = z.object({ msg: z.string().optional(), err: z.record(z.string(), z.unknown()) });

function logged(log: (logger: ReturnType<typeof createLogger>) => void) {
  const lines: string[] = [];
  log(createLogger({ name: 'test', level: 'info' }, { write: (line) => void lines.push(line) }));
  const text = lines.join('');
  return { text, line: errorLine.parse(JSON.parse(text)) };
}

describe('an error in the log', () => {
  it('is logged by type, message, stack, code and labels, never with the documents it carries', () => {
    const { text, line } = logged((logger) =>
      logger.error({ err: bulkWriteError(bulkWriteError()) }, 'not stored'),
    );
    expect(text).not.toContain(CANARY);
    const written = {
      type: 'FakeBulkWriteError',
      message: 'E11000 duplicate key error collection: payouts index: reference_1',
      stack: expect.stringContaining('logger.test.ts') as unknown,
      code: 11_000,
      codeName: 'DuplicateKey',
      errorLabels: ['TransientTransactionError'],
    };
    expect(line).toEqual({ msg: 'not stored', err: { ...written, cause: written } });
  });

  it.each<[string, (logger: ReturnType<typeof createLogger>) => void]>([
    ['alone', (logger) => logger.error(bulkWriteError())],
    ['without a text', (logger) => logger.error({ err: bulkWriteError() })],
    ['of a child', (logger) => logger.child({ part: 'x' }).error({ err: bulkWriteError() })],
  ])('does not give its whole message to the line (%s)', (_name, log) => {
    const { text, line } = logged(log);
    expect(text).not.toContain(CANARY);
    expect(line.msg).toBe('E11000 duplicate key error collection: payouts index: reference_1');
  });

  it('is hidden under the other usual name as well', () => {
    const { text } = logged((logger) => logger.error({ err: 'refused', error: bulkWriteError() }, 'x'));
    expect(text).not.toContain(CANARY);
    expect(text).toContain('"codeName":"DuplicateKey"');
  });

  it('has a bounded message, also in its stack', () => {
    const { text, line } = logged((logger) =>
      logger.error({ err: new Error(`${'x'.repeat(500)}${CANARY}`) }, 'long'),
    );
    expect(text).not.toContain('canary');
    expect(line.err['message']).toBe('x'.repeat(500));
  });

  it('names three causes at most, even where they go round', () => {
    const round = new Error('round');
    round.cause = round;
    const { text } = logged((logger) => logger.error({ err: round }, 'x'));
    expect(text.match(/"message":"round"/g)).toHaveLength(4);
  });
});
