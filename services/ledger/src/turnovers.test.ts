import { expect, it } from 'vitest';
import { createTurnovers } from './turnovers.ts';

const period = { from: new Date('2026-02-01'), to: new Date('2026-02-02') };

it('reads a period once no entry can be added to it, and until then each time', async () => {
  let readAtMs = period.to.getTime();
  const asked: (readonly string[])[] = [];
  const read = createTurnovers({
    turnovers: async (accounts) => {
      asked.push(accounts);
      return { turnovers: accounts.map(() => ({ debits: 5n, credits: 2n })), readAtMs };
    },
  });
  const moved = { debits: 5n, credits: 2n };
  expect(await read(['feeIncome:KES'], period)).toEqual([moved]);
  expect(await read(['feeIncome:KES'], period)).toEqual([moved]);
  readAtMs += 15_000;
  expect(await read(['feeIncome:KES'], period)).toEqual([moved]);
  expect(asked).toHaveLength(3);
  // An account that came later had no entry in it.
  expect(await read(['feeIncome:KES', 'suspense:KES'], period)).toEqual([moved, { debits: 0n, credits: 0n }]);
  expect(asked).toHaveLength(3);
  await read(['feeIncome:KES'], { ...period, to: new Date('2026-02-01T12:00:00Z') });
  expect(asked).toHaveLength(4);
});
