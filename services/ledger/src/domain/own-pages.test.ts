import { expect, it } from 'vitest';
import { eventOf } from '../events.ts';
import { published } from '../forward.fixture.ts';
import { type ParsedEvent, readOwnEvent } from './own-events.ts';
import { createOwnPages } from './own-pages.ts';

function funded(commandId: string, atMs: number): Extract<ParsedEvent, { readonly kind: 'posting' }> {
  const wallet = { merchantId: 'demo', currency: 'KES', amount: 1n, sequence: 1n };
  const domainEvent = { kind: 'walletFunded', causationId: commandId, commandId, ...wallet } as const;
  const read = readOwnEvent(published(eventOf(domainEvent, new Date(atMs))));
  if (read.kind !== 'posting') throw new TypeError('a funding is a posting');
  return read;
}

it('gives a page its postings, which wait no longer, and names those that did not come', () => {
  const pages = createOwnPages(3);
  const [first, last] = [funded('cm-1', 2_000), funded('cm-3', 5_000)];
  for (const posting of [first, last]) expect(pages.add(posting)).toBeUndefined();
  const chain = 'ledgerCommands/3';
  const page = { chain, number: 1n, hash: 'aa', atMs: 2_000, postings: ['cm-1/fund', 'cm-2/fund'] };
  expect(pages.add({ kind: 'page', page })).toEqual({
    chain,
    published: page,
    atMs: 2_000,
    postings: [first],
    missing: ['cm-2/fund'],
  });
  expect(pages.rest()).toEqual([{ chain, published: undefined, atMs: 5_000, postings: [last], missing: [] }]);
});
