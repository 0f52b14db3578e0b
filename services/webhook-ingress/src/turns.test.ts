import { expect, test, vi } from 'vitest';
import { takeTurns } from './turns.ts';

/** Work that ends when told, and what is under way. */
function open() {
  const underWay: { readonly key: string; readonly name: string; readonly end: (error?: Error) => void }[] =
    [];
  const submit = takeTurns(({ key, name }: { readonly key: string; readonly name: string }) => {
    const done = Promise.withResolvers<string>();
    underWay.push({
      key,
      name,
      end: (error) => (error ? done.reject(error) : done.resolve(name)),
    });
    return done.promise;
  });
  const names = () => underWay.map(({ name }) => name);
  return { submit, underWay, names };
}

test('work on one key waits for what is under way, then goes on together', async () => {
  const { submit, underWay, names } = open();
  const results = ['a', 'b', 'c'].map((name) => submit({ key: 'k', name }));
  const other = submit({ key: 'other', name: 'd' });
  expect(names()).toEqual(['a', 'd']);
  underWay[0]?.end();
  await vi.waitFor(() => expect(names()).toEqual(['a', 'd', 'b', 'c']));
  for (const work of underWay) work.end();
  expect(await Promise.all([...results, other])).toEqual(['a', 'b', 'c', 'd']);
  const again = submit({ key: 'k', name: 'e' });
  expect(names()).toContain('e');
  underWay.at(-1)?.end();
  expect(await again).toBe('e');
});

test('what comes meanwhile waits for all of those', async () => {
  const { submit, underWay, names } = open();
  const results = ['a', 'b', 'c'].map((name) => submit({ key: 'k', name }));
  underWay[0]?.end();
  await vi.waitFor(() => expect(names()).toEqual(['a', 'b', 'c']));
  results.push(submit({ key: 'k', name: 'd' }));
  underWay[1]?.end();
  await results[1];
  expect(names()).toEqual(['a', 'b', 'c']);
  underWay[2]?.end();
  await vi.waitFor(() => expect(names()).toEqual(['a', 'b', 'c', 'd']));
  underWay[3]?.end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('failed work lets the next go on', async () => {
  const { submit, underWay, names } = open();
  const first = submit({ key: 'k', name: 'a' });
  const second = submit({ key: 'k', name: 'b' });
  underWay[0]?.end(new Error('no primary'));
  await expect(first).rejects.toThrow('no primary');
  await vi.waitFor(() => expect(names()).toEqual(['a', 'b']));
  underWay[1]?.end();
  expect(await second).toBe('b');
});

test('so many wait for one key at most', async () => {
  const { submit } = open();
  for (let count = 0; count <= 5_000; count += 1) void submit({ key: 'k', name: 'a' });
  await expect(submit({ key: 'k', name: 'a' })).rejects.toThrow('too many');
});
