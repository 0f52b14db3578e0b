import { describe, expect, it } from 'vitest';
import { cleanReport, commandLine } from './program.fixture.ts';

const violation = {
  invariant: 'L3',
  subject: 'demo:KES',
  message: 'available is stored as 6; its entries come to 5',
} as const;
const broken = { ...cleanReport, violations: [violation], violationCounts: { L3: 3 } };

describe('ledger verify', () => {
  it('says what it read, and that all of it holds', async () => {
    const line = commandLine();
    expect(await line.run('ledger', 'verify')).toBe(0);
    expect(line.printed()).toBe(
      [
        '12,000 entries on 30 pages, 4 wallets with 2 open holds, 5 shared accounts, 6 payments: 0.5 s, 24,000 entries/s',
        'every balance and every hash verifies',
        '',
      ].join('\n'),
    );
    expect(line.requests).toEqual([{ mongodbUrl: 'mongodb://unused', crossCheck: true }]);
  });

  it('names the first difference and ends with 1', async () => {
    const line = commandLine([], broken);
    expect(await line.run('ledger', 'verify', '--books-only')).toBe(1);
    expect(line.printed()).toContain(`L3    demo:KES  ${violation.message}\nand 2 more\n`);
    expect(line.complained()).toBe(`pesewa: the first difference: L3 demo:KES: ${violation.message}\n`);
    expect(line.requests).toEqual([{ mongodbUrl: 'mongodb://unused', crossCheck: false }]);
  });

  it('prints JSON', async () => {
    const line = commandLine([], broken);
    expect(await line.run('ledger', 'verify', '--json')).toBe(1);
    expect(JSON.parse(line.printed())).toEqual(broken);
  });

  it('shows how far it is', async () => {
    const line = commandLine();
    await line.run('ledger', 'verify');
    expect(line.shown).toEqual(['entries ██████░░░░░░░░░░░░░░░░░░ 25 % of 12,000']);
  });

  it('explains the rules', async () => {
    const line = commandLine();
    expect(await line.run('ledger', 'verify', '--help')).toBe(0);
    expect(line.printed()).toMatch(/L4 {2}available and held are never below zero/);
  });
});
