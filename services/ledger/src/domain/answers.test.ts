import { expect, test } from 'vitest';
import { repeatAnswer, type StoredAnswers } from './answers.ts';
import type { Folded, Snapshot } from './books.ts';
import { type Instruction, postingId } from './instructions.ts';
import {
  capture,
  collect,
  fund,
  fundFloat,
  given,
  hold,
  ofNoBreak,
  refund,
  release,
} from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';

const at = new Date(1_000);

/** The result of a fold in its stored form. */
function storedBy({ postings, refusals }: Folded): StoredAnswers {
  return {
    postings: new Map(postings.map((posting) => [posting.id, { ...posting, at }])),
    refusals: new Map(refusals.map((refusal) => [refusal.id, { ...refusal, at }])),
    newest: new Map(),
  };
}

const withdraw = { ...fund, kind: 'withdraw', amount: 700n } as const;
const adjust = { ...fund, kind: 'adjust', direction: 'debit', ...ofNoBreak } as const;
const suspense = { ...fundFloat, kind: 'suspense', direction: 'surplus', ...ofNoBreak } as const;
const policy = { refundFee: true };

test.each<{ readonly name: string; readonly before: Snapshot; readonly said: readonly Instruction[] }>([
  { name: 'a hold', before: given(5_000n, 0n), said: [hold] },
  { name: 'a refused hold', before: given(5n, 0n), said: [hold] },
  { name: 'a capture', before: given(0n, 1_010n, 'open'), said: [capture] },
  {
    name: 'a capture without fees',
    before: given(5_000n, 0n),
    said: [
      { ...hold, fee: 0n },
      { ...capture, fee: 0n, railFee: 0n },
    ],
  },
  {
    name: 'a capture by another rail',
    before: given(0n, 1_010n, 'open'),
    said: [{ ...capture, rail: 'bank' }],
  },
  { name: 'a release', before: given(0n, 1_010n, 'open'), said: [release] },
  { name: 'a whole life', before: given(5_000n, 0n), said: [hold, capture, refund] },
  { name: 'a collection', before: given(0n, 0n), said: [collect] },
  { name: 'a collection that its fee takes whole', before: given(0n, 0n), said: [{ ...collect, fee: 500n }] },
  { name: 'a funding', before: given(0n, 0n), said: [fund] },
  { name: 'a withdrawal', before: given(800n, 0n), said: [withdraw] },
  { name: 'a refused withdrawal', before: given(0n, 0n), said: [withdraw] },
  { name: 'an adjustment', before: given(800n, 0n), said: [adjust] },
  { name: 'a funded float', before: given(0n, 0n), said: [fundFloat] },
  { name: 'suspense', before: given(0n, 0n), said: [suspense] },
])('$name is answered again as it was, whichever event asks', ({ before, said }) => {
  const folded = foldInstructions(before, said, policy);
  const stored = storedBy(folded);
  const answers = said.map((one) => repeatAnswer({ ...one, causationId: 'ev-again' }, stored));
  const given = folded.outcomes.map(
    (outcome) => outcome.kind === 'posted' && { domainEvent: outcome.domainEvent, at },
  );
  expect(answers).toEqual(given);
  expect(said.map(postingId)).toEqual(expect.arrayContaining([...stored.postings.keys()]));
});

test('what was never answered is not answered again', () => {
  const nothing = foldInstructions(given(0n, 0n), [], policy);
  for (const one of [hold, capture, release, refund, collect, fund, fundFloat])
    expect(repeatAnswer(one, storedBy(nothing))).toBeUndefined();
});
