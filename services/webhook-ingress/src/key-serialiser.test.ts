import { expect, test } from 'vitest';
import { serialiseByKey } from './key-serialiser.ts';

const bounds = { itemsMax: 5_000, bytesMax: 1_000_000, waitMsMax: 8_000 };

/** Work that ends when the test says so, and a list of the work in progress. */
function open(changed: Partial<typeof bounds> = {}) {
  const underWay: { readonly key: string; readonly name: string; readonly end: (error?: Error) => void }[] =
    [];
  const take = serialiseByKey(
    ({ key, name }: { readonly key: string; readonly name: string; readonly bytes: number }) => {
      const done = Promise.withResolvers<string>();
      underWay.push({
        key,
        name,
        end: (error) => (error ? done.reject(error) : done.resolve(name)),
      });
      return done.promise;
    },
    { ...bounds, ...changed },
  );
  const submit = async (work: { readonly key: string; readonly name: string; readonly bytes?: number }) => {
    const taken = await take({ bytes: 1, ...work });
    return taken.ok ? taken.value : taken.refusal;
  };
  const names = () => underWay.map(({ name }) => name);
  return { submit, underWay, names };
}

test('work on one key waits for what is under way, then goes on together', async () => {
  const { submit, underWay, names } = open();
  const results = ['a', 'b', 'c'].map((name) => submit({ key: 'k', name }));
  const other = submit({ key: 'other', name: 'd' });
  expect(names()).toEqual(['a', 'd']);
  underWay[0]?.end();
  await expect.poll(() => names()).toEqual(['a', 'd', 'b', 'c']);
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
  await expect.poll(() => names()).toEqual(['a', 'b', 'c']);
  results.push(submit({ key: 'k', name: 'd' }));
  underWay[1]?.end();
  await results[1];
  expect(names()).toEqual(['a', 'b', 'c']);
  underWay[2]?.end();
  await expect.poll(() => names()).toEqual(['a', 'b', 'c', 'd']);
  underWay[3]?.end();
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('failed work lets the next go on', async () => {
  const { submit, underWay, names } = open();
  const first = submit({ key: 'k', name: 'a' });
  const second = submit({ key: 'k', name: 'b' });
  underWay[0]?.end(new Error('no primary'));
  await expect(first).rejects.toThrow('no primary');
  await expect.poll(() => names()).toEqual(['a', 'b']);
  underWay[1]?.end();
  expect(await second).toBe('b');
});

test('beyond so much, more is refused at once', async () => {
  const { submit, underWay } = open({ itemsMax: 3 });
  const taken = ['a', 'b', 'c'].map((name) => submit({ key: name === 'c' ? 'other' : 'k', name }));
  expect(await submit({ key: 'third', name: 'd' })).toBe('overloaded');
  for (const work of underWay) work.end();
  await taken[0];
  void submit({ key: 'third', name: 'd' });
  await expect.poll(() => underWay.map(({ name }) => name)).toContain('d');
});

test('beyond so many bytes over all keys, more is refused at once', async () => {
  const { submit, underWay } = open({ bytesMax: 100 });
  const first = submit({ key: 'k', name: 'a', bytes: 60 });
  void submit({ key: 'other', name: 'b', bytes: 40 });
  expect(await submit({ key: 'k', name: 'c', bytes: 1 })).toBe('overloaded');
  underWay[0]?.end();
  expect(await first).toBe('a');
  void submit({ key: 'k', name: 'd', bytes: 60 });
  await expect.poll(() => underWay.map(({ name }) => name)).toContain('d');
});

test('what waited too long is let go of, and never goes on', async () => {
  const { submit, underWay, names } = open({ waitMsMax: 20, itemsMax: 2 });
  const first = submit({ key: 'k', name: 'a' });
  expect(await submit({ key: 'k', name: 'b' })).toBe('overloaded');
  underWay[0]?.end();
  expect(await first).toBe('a');
  expect(names()).toEqual(['a']);
  // The items that waited too long no longer take up room.
  const again = ['c', 'd'].map((name) => submit({ key: name, name }));
  for (const work of underWay) work.end();
  expect(await Promise.all(again)).toEqual(['c', 'd']);
});
