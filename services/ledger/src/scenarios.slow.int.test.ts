import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AuditedLedger, openAuditedLedger } from './audited.fixture.ts';
import type { Instruction } from './domain/instructions.ts';
import { topicOf } from './domain/own-events.ts';
import { anyScenario, lawfulScenario } from './scenarios.fixture.ts';

/** Fixed, so that a failure can be reproduced. */
const SEED = 20_261_121;

let books: AuditedLedger;

beforeAll(async () => {
  books = await openAuditedLedger(process.env['MONGODB_URL'] ?? '');
  await books.save();
});

afterEach(() => books.restore());

afterAll(async () => {
  await books[Symbol.asyncDispose]();
});

/** Gives each order an id of its own: only approved orders reach the ledger. */
function ordered(instruction: Instruction): Instruction {
  if (topicOf(instruction.kind) !== 'ledgerCommands' || !('amount' in instruction)) return instruction;
  const { reference, kind, amount } = instruction;
  return { ...instruction, reference: `${reference}-${kind}-${amount}` };
}

const scenarios = [anyScenario, lawfulScenario].flatMap((scenario, index) =>
  fc.sample(scenario, { seed: SEED + index, numRuns: 5 }).map((instructions) => instructions.map(ordered)),
);

it.each(scenarios.map((scenario, index) => ({ index, scenario })))(
  `the store keeps the books of scenario $index (seed ${SEED})`,
  async ({ scenario }) => {
    await books.apply(...scenario);
    const { violations, entries } = await books.audit({ crossCheck: false });
    expect(violations).toEqual([]);
    expect(entries).toBeGreaterThan(0);
    await books.apply(...scenario);
    const again = await books.audit({ crossCheck: false });
    expect([again.violations, again.entries]).toEqual([[], entries]);
  },
);
