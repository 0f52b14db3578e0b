import fc from 'fast-check';
import type { Instruction } from './domain/instructions.ts';
import { topicOf } from './domain/own-events.ts';
import { ofNoBreak } from './domain/posting.fixture.ts';

/** The subject of an instruction: a number stands for one payment or order with its own amount. */
interface Word {
  readonly kind: Instruction['kind'];
  readonly number: number;
  /** Whether its amount contradicts that of its payment. */
  readonly contradicts: boolean;
}

/** A batch of instructions of one topic. */
export interface Batch {
  readonly topic: string;
  readonly instructions: readonly Instruction[];
}

const payoutKinds = ['hold', 'capture', 'release', 'refund'] as const;
const orderKinds = ['fund', 'withdraw', 'fundFloat', 'withdrawFloat', 'adjust', 'suspense'] as const;

const kind = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...payoutKinds) },
  { weight: 2, arbitrary: fc.constant('collect' as const) },
  { weight: 2, arbitrary: fc.constant('fund' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...orderKinds) },
);

const number = fc.nat({ max: 11 });
const contradicts = fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0);

/** Any instructions in any order: repeated, contradictory, without the ones they depend on. */
export const anyScenario: fc.Arbitrary<readonly Instruction[]> = fc
  .array(fc.record({ kind, number, contradicts }), { minLength: 1, maxLength: 80, size: 'max' })
  .map((words) => words.map(instructionOf));

const ends = fc.constantFrom<readonly (typeof payoutKinds)[number][]>(
  [],
  ['capture'],
  ['release'],
  ['capture', 'refund'],
  ['capture', 'capture', 'release'],
  ['release', 'capture', 'release'],
  ['capture', 'refund', 'refund', 'release'],
);

const payoutLife = fc.tuple(number, ends, contradicts).map(([of, kinds, isOdd]): readonly Word[] => [
  { kind: 'hold', number: of, contradicts: false },
  ...kinds.flatMap((each): readonly Word[] => {
    const word = { kind: each, number: of, contradicts: false };
    return isOdd ? [{ ...word, contradicts: true }, word] : [word];
  }),
]);

const otherLife = fc
  .record({ kind: fc.constantFrom('collect' as const, ...orderKinds), number })
  .map((word): readonly Word[] => [{ ...word, contradicts: false }]);

/** Payments and orders that each start at their beginning, interleaved and with repetitions. */
export const lawfulScenario: fc.Arbitrary<readonly Instruction[]> = fc
  .tuple(
    fc.array(fc.oneof(payoutLife, otherLife), { minLength: 1, maxLength: 40, size: 'max' }),
    fc.array(fc.nat(), { minLength: 8, maxLength: 60 }),
  )
  .map(([lives, picks]) => interleave(lives, picks).map(instructionOf));

/** The sizes of the batches into which the instructions are cut, used cyclically. */
export const anyCuts: fc.Arbitrary<readonly number[]> = fc.array(fc.integer({ min: 1, max: 9 }), {
  minLength: 1,
  maxLength: 12,
});

/** Cuts the instructions into batches, each of consecutive ones of one topic. */
export function cut(scenario: readonly Instruction[], sizes: readonly number[]): readonly Batch[] {
  const batches: { readonly topic: string; readonly instructions: Instruction[]; readonly size: number }[] =
    [];
  for (const instruction of scenario) {
    const topic = topicOf(instruction.kind);
    const last = batches.at(-1);
    if (last && last.topic === topic && last.instructions.length < last.size)
      last.instructions.push(instruction);
    else
      batches.push({ topic, instructions: [instruction], size: sizes[batches.length % sizes.length] ?? 1 });
  }
  return batches;
}

function interleave(lives: readonly (readonly Word[])[], picks: readonly number[]): readonly Word[] {
  const open = lives.map((life) => [...life]);
  const words: Word[] = [];
  for (let turn = 0; open.length > 0; turn += 1) {
    const index = (picks[turn % picks.length] ?? 0) % open.length;
    const next = open[index]?.shift();
    if (next) words.push(next);
    if (open[index]?.length === 0) open.splice(index, 1);
  }
  return words;
}

function instructionOf({ kind, number: of, contradicts: isOdd }: Word): Instruction {
  const merchantId = `m${of % 3}`;
  const currency = of % 2 === 0 ? 'KES' : 'XOF';
  const rail = `rail${of % 2}`;
  const amount = BigInt(40 + of * 37 + (isOdd ? 1 : 0));
  const fee = BigInt((of % 4) * 5);
  const railFee = BigInt(of % 3);
  const payment = { causationId: `ev-${kind}-${of}`, reference: `po-${of}`, merchantId, currency };
  const order = { ...payment, reference: `cm-${of}`, amount: amount * 3n };
  switch (kind) {
    case 'hold':
      return { ...payment, kind, amount, fee, rail };
    case 'capture':
      return { ...payment, kind, amount, fee, rail, railFee };
    case 'release':
    case 'refund':
      return { ...payment, kind, amount, fee };
    case 'collect':
      return { ...payment, reference: `co-${of}`, kind, received: amount, fee, rail, railFee };
    case 'fund':
    case 'withdraw':
      return { ...order, kind, merchantId };
    case 'fundFloat':
    case 'withdrawFloat':
      return { ...order, kind, rail };
    case 'adjust':
      return { ...order, kind, merchantId, direction: of % 2 === 0 ? 'credit' : 'debit', ...ofNoBreak };
    case 'suspense':
      return { ...order, kind, rail, direction: of % 2 === 0 ? 'surplus' : 'shortage', ...ofNoBreak };
    default:
      throw new TypeError(kind satisfies never);
  }
}
