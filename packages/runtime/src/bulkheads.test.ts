import { expect, test } from 'vitest';
import { createBulkheads } from './bulkheads.ts';

function open(bounds: { readonly runningMax: number; readonly waitingMax: number }) {
  const bulkheads = createBulkheads(bounds);
  const began: string[] = [];
  /** Begins work that ends when `end` is called; `done` is its value. */
  const begin = (key: string, name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = bulkheads.run(key, async () => {
      began.push(name);
      await promise;
      return name;
    });
    return { done, end: resolve };
  };
  return { ...bulkheads, begin, began };
}

test('a full bulkhead makes wait, then turns away; no other bulkhead notices', async () => {
  const bulkheads = open({ runningMax: 1, waitingMax: 2 });
  const running = bulkheads.begin('demo payouts', 'running');
  const first = bulkheads.begin('demo payouts', 'first');
  const second = bulkheads.begin('demo payouts', 'second');
  expect(await bulkheads.begin('demo payouts', 'third').done).toBeUndefined();
  const other = bulkheads.begin('rival payouts', 'other');
  expect(bulkheads.began).toEqual(['running', 'other']);
  for (const one of [running, first, second]) {
    one.end();
    await one.done;
  }
  expect(bulkheads.began).toEqual(['running', 'other', 'first', 'second']);
  other.end();
  expect(await other.done).toBe('other');
});

test('a bulkhead that was left is empty again, even by work that fails', async () => {
  const bulkheads = open({ runningMax: 2, waitingMax: 0 });
  const one = bulkheads.begin('bulkhead', 'one');
  const failing = bulkheads.run('bulkhead', () =>
    one.done.then(() => Promise.reject(new Error('no answer'))),
  );
  one.end();
  await expect(failing).rejects.toThrow('no answer');
  const again = [bulkheads.begin('bulkhead', 'again'), bulkheads.begin('bulkhead', 'and again')];
  for (const { end } of again) end();
  expect(await Promise.all(again.map(({ done }) => done))).toEqual(['again', 'and again']);
});

test('the limit holds while the work comes and goes', async () => {
  const bulkheads = open({ runningMax: 2, waitingMax: 0 });
  const [one, other] = [bulkheads.begin('bulkhead', 'one'), bulkheads.begin('bulkhead', 'other')];
  one.end();
  await one.done;
  const next = bulkheads.begin('bulkhead', 'next');
  expect(await bulkheads.begin('bulkhead', 'one too many').done).toBeUndefined();
  for (const { end } of [other, next]) end();
  expect(await Promise.all([other.done, next.done])).toEqual(['other', 'next']);
});
