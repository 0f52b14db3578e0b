import { expect, it } from 'vitest';
import { createSerialiser } from './turns.ts';

it('keeps the order of the calls, also of those that come as another ends, and survives failures', async () => {
  const runSerially = createSerialiser();
  const ran: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    running += 1;
    expect(running).toBe(1);
    await new Promise(setImmediate);
    running -= 1;
    ran.push(name);
    if (name === 'b') throw new Error('refused');
  };
  const first = runSerially(work('a')).then(() => runSerially(work('d')));
  const refused = runSerially(work('b')).catch((error: unknown) => error);
  await Promise.all([first, refused, runSerially(work('c'))]);
  expect(await refused).toEqual(new Error('refused'));
  expect(ran).toEqual(['a', 'b', 'c', 'd']);
});
