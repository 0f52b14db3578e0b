import { createLogger } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import { createOutcomeRecorder } from './outcome-recorder.ts';

function createFixture(failures: number) {
  const asked: number[] = [];
  const pauses: number[] = [];
  const recorder = createOutcomeRecorder({
    clock: {
      sleep: async (durationMs) => {
        pauses.push(durationMs);
        if (pauses.length === 9) recorder.stop();
      },
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
    thenAsks: 'lookup',
  });
  const commit = async () => {
    asked.push(asked.length);
    if (asked.length <= failures) throw new Error('no primary');
    return 'committed';
  };
  return { record: () => recorder.record(commit, { reference: 'co-1' }), asked, pauses };
}

it('records an answer of the rail again and again until it is committed', async () => {
  const { record, asked, pauses } = createFixture(3);
  expect(await record()).toBe('committed');
  expect(asked).toHaveLength(4);
  expect(pauses).toEqual([50, 100, 200]);
});

it('gives it up only when we close', async () => {
  const { record, asked } = createFixture(Number.POSITIVE_INFINITY);
  expect(await record()).toBeUndefined();
  expect(asked).toHaveLength(10);
});
