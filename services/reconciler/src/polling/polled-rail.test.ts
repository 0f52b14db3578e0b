import { type LookupResult, railSettings as readSettings } from '@pesewa/rails';
import { expect, it, vi } from 'vitest';
import { directRail, railSettings } from '../fixtures/rail.ts';
import { terms } from '../fixtures/verdicts.ts';
import { ask } from './polled-rail.ts';

function open(findTakenOnAtMs: (reference: string) => Promise<number | null>) {
  const { rails, answers } = directRail(readSettings.parse(JSON.stringify([railSettings])));
  const [real] = rails.all;
  if (!real) throw new Error('no rail');
  const read = vi.fn<typeof findTakenOnAtMs>(findTakenOnAtMs);
  const askAbout = (kind: 'payout' | 'collection', answer: LookupResult) => {
    answers.set('po-1', answer);
    return ask({ ...real, findTakenOnAtMs: read }, 'po-1', terms(kind));
  };
  return { askAbout, read };
}

it('gives when the rail acknowledged a payout that it does not find, and reads that for no other answer', async () => {
  const { askAbout, read } = open(async () => 5_000);
  for (const kind of ['pending', 'unknown'] as const) {
    const answer = { kind, why: 'timeout' };
    expect(await askAbout('payout', answer)).toEqual(answer);
  }
  expect(await askAbout('collection', { kind: 'notFound' })).toEqual({ kind: 'notFound' });
  expect(read).not.toHaveBeenCalled();
  expect(await askAbout('payout', { kind: 'notFound' })).toEqual({ kind: 'notFound', takenOnAtMs: 5_000 });
  expect(read.mock.calls).toEqual([['po-1']]);
});

it('gives no NOT FOUND of a payout while its owner’s record can’t be read', async () => {
  const { askAbout } = open(() => Promise.reject(new Error('the database is away')));
  await expect(askAbout('payout', { kind: 'notFound' })).rejects.toThrow('the database is away');
});
