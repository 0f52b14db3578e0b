import type { LookupAddress } from 'node:dns';
import { expect, it } from 'vitest';
import { createSharedLookup, type FindAddresses } from './http-transport.ts';

const four: LookupAddress = { address: '192.0.2.1', family: 4 };
const six: LookupAddress = { address: '2001:db8::1', family: 6 };

/** A lookup over a system that answers when it is told to. */
function open() {
  const asked: { readonly hostname: string; readonly found: Parameters<FindAddresses>[1] }[] = [];
  const lookup = createSharedLookup((hostname, found) => void asked.push({ hostname, found }));
  const find = (hostname: string, all = true) =>
    new Promise<unknown>((resolve, reject) => {
      lookup(hostname, { all }, (error, address, family) =>
        error ? reject(error) : resolve(all ? address : [address, family]),
      );
    });
  return { asked, find };
}

it('asks once for all that wait for a name, and again for who comes later', async () => {
  const { asked, find } = open();
  const waiting = [find('rail.example'), find('rail.example', false), find('other.example')];
  expect(asked.map(({ hostname }) => hostname)).toEqual(['rail.example', 'other.example']);
  asked[0]?.found(null, [four, six]);
  expect(await Promise.all(waiting.slice(0, 2))).toEqual([
    [four, six],
    ['192.0.2.1', 4],
  ]);
  const later = find('rail.example');
  expect(asked).toHaveLength(3);
  asked[2]?.found(null, [six]);
  expect(await later).toEqual([six]);
});

it('tells all of them why it failed, and asks again afterwards', async () => {
  const { asked, find } = open();
  const waiting = [find('rail.example'), find('rail.example')];
  asked[0]?.found(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'ENOTFOUND' });
  void find('rail.example');
  expect(asked).toHaveLength(2);
});
