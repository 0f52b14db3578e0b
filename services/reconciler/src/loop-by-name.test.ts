import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import { startLoopByName } from './loop-by-name.ts';

it('one loop is started for each name when it turns up; all are woken, and closed', async () => {
  const names = ['former'];
  const started: string[] = [];
  const woken: string[] = [];
  const closed: string[] = [];
  const loops = startLoopByName({
    name: 'test',
    pauseMs: 60_000,
    clock: systemClock,
    logger: createLogger({ name: 'test', level: 'silent' }),
    found: async () => [...names],
    begin: (name) => {
      started.push(name);
      return { wake: () => void woken.push(name), [Symbol.asyncDispose]: async () => void closed.push(name) };
    },
  });
  await expect.poll(() => started).toEqual(['former']);
  names.push('older');
  loops.wake();
  await expect.poll(() => started).toEqual(['former', 'older']);
  loops.wake();
  expect(woken.slice(-2)).toEqual(['former', 'older']);
  expect(started).toHaveLength(2);
  await loops[Symbol.asyncDispose]();
  expect(closed).toEqual(['former', 'older']);
});
