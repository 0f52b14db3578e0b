import { expect, it } from 'vitest';
import type { ReadEntry } from './entries.ts';
import { createFindings } from './findings.ts';
import { createResequencer } from './resequencer.ts';

const WALLET = 'demo:KES';

function entry(sequence: number): ReadEntry {
  return {
    id: `cm-${sequence}/fund`,
    kind: 'fund',
    reference: `cm-${sequence}`,
    amount: 1n,
    fee: 0n,
    debit: undefined,
    credit: undefined,
    wallet: WALLET,
    sequence,
    atMs: 0,
    after: { available: 0n, held: 0n },
  };
}

function fold(sequences: readonly number[], waitingMax = 100) {
  const findings = createFindings();
  const applied: number[] = [];
  const apply = (own: { sequence: number }, { sequence }: ReadEntry) => {
    own.sequence = sequence;
    applied.push(sequence);
  };
  const inOrder = createResequencer(findings, waitingMax, apply, { folds: new Map(), early: new Map() });
  for (const sequence of sequences) inOrder.push(WALLET, entry(sequence));
  const early = [...applied];
  inOrder.close();
  return { early, applied, messages: findings.violations().map(({ message }) => message) };
}

it('brings entries into their order, whichever chain was read first', () => {
  const sequences = [4, 5, 1, 3, 2, 6];
  expect(fold(sequences)).toEqual({ early: [1, 2, 3, 4, 5, 6], applied: [1, 2, 3, 4, 5, 6], messages: [] });
});

it('names the number that never came, and goes on behind it', () => {
  expect(fold([1, 2, 4, 5])).toEqual({
    early: [1, 2],
    applied: [1, 2, 4, 5],
    messages: ['has no entry 3: after 2 comes 4, cm-4/fund'],
  });
});

it('names a number that is there twice', () => {
  expect(fold([1, 2, 2, 4, 4, 3]).messages).toEqual(['has two entries numbered 2, cm-2/fund is the second']);
});

it('stops waiting when too many wait', () => {
  const { early, messages } = fold([1, 3, 4, 5, 6], 3);
  expect(early).toEqual([1, 3, 4, 5, 6]);
  expect(messages).toEqual(['has no entry 2: after 1 comes 3, cm-3/fund']);
});
