import { createLogger } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import type { CollectionOrderCommand } from './collections.ts';
import { createRecorder } from './recorder.ts';

const refused: CollectionOrderCommand = {
  reference: 'co-1',
  causationId: null,
  command: { kind: 'recordInitiation', attempt: 1, outcome: { kind: 'failed', reason: 'NO ACCOUNT' } },
};

function createFixture(failures: number) {
  const asked: CollectionOrderCommand[] = [];
  const pauses: number[] = [];
  const recorder = createRecorder({
    collections: {
      recordOutcome: async (command) => {
        asked.push(command);
        if (asked.length <= failures) throw new Error('no primary');
        return undefined;
      },
    },
    clock: {
      sleep: async (durationMs) => {
        pauses.push(durationMs);
        if (pauses.length === 9) recorder.stop();
      },
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  return { recorder, asked, pauses };
}

it('records an answer of the rail again and again until it is committed', async () => {
  const { recorder, asked, pauses } = createFixture(3);
  await recorder.record(refused);
  expect(asked).toEqual(Array(4).fill(refused));
  expect(pauses).toEqual([50, 100, 200]);
});

it('gives it up only when we close', async () => {
  const { recorder, asked } = createFixture(Number.POSITIVE_INFINITY);
  expect(await recorder.record(refused)).toBeUndefined();
  expect(asked).toHaveLength(10);
});
