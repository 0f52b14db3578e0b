import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cleanReport, commandLine } from './program.fixture.ts';

const violation = {
  invariant: 'L3',
  subject: 'demo:KES',
  message: 'available is stored as 6; its entries come to 5',
} as const;
const broken = { ...cleanReport, violations: [violation], violationCounts: { L3: 3 } };

const installation = createHash('sha256').update('unused ').digest('hex').slice(0, 16);
const defaults = {
  mongodbUrl: 'mongodb://unused',
  whole: false,
  checkpointFile: `/homes/ama/.pesewa/verified-${installation}`,
};

describe('ledger verify', () => {
  it('begins with the first entry, and keeps what it has verified elsewhere, where it is told to', async () => {
    const line = commandLine();
    expect(await line.run('ledger', 'verify', '--all', '--checkpoint', 'kept')).toBe(0);
    expect(line.requests).toEqual([{ ...defaults, crossCheck: true, whole: true, checkpointFile: 'kept' }]);
  });

  it('says what was verified before, and what that leaves out', async () => {
    const line = commandLine([], { ...cleanReport, entriesBefore: 11_000 });
    expect(await line.run('ledger', 'verify')).toBe(0);
    expect(line.printed()).toContain('12,000 entries on 30 pages (11,000 verified before), ');
    expect(line.printed()).toContain(': 0.5 s, 2,000 entries/s\n');
    expect(line.printed()).toContain('behind the last verification; --all verifies what is before it too\n');
  });

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
    expect(line.requests).toEqual([{ ...defaults, crossCheck: true }]);
  });

  it('names the first difference and ends with 1', async () => {
    const line = commandLine([], broken);
    expect(await line.run('ledger', 'verify', '--books-only')).toBe(1);
    expect(line.printed()).toContain(`L3    demo:KES  ${violation.message}\nand 2 more\n`);
    expect(line.complained()).toBe(`pesewa: the first difference: L3 demo:KES: ${violation.message}\n`);
    expect(line.requests).toEqual([{ ...defaults, crossCheck: false }]);
  });

  it('prints JSON', async () => {
    const line = commandLine([], broken);
    expect(await line.run('ledger', 'verify', '--json')).toBe(1);
    expect(JSON.parse(line.printed())).toEqual(broken);
  });

  it('says that there is nothing, and ends with 1', async () => {
    const line = commandLine([], { ...cleanReport, pages: 0, entries: 0, heads: [] });
    expect(await line.run('ledger', 'verify')).toBe(1);
    expect(line.printed()).toContain('there is no page: nothing was verified\n');
    expect(line.printed()).not.toContain('verifies');
    expect(line.complained()).toBe('pesewa: nothing to verify: is DATABASE_PREFIX right?\n');
  });

  it('waits as long as the option says', async () => {
    const line = commandLine();
    expect(await line.run('ledger', 'verify', '--allowed-lag', '7')).toBe(0);
    expect(line.requests).toEqual([{ ...defaults, crossCheck: true, allowedLagMs: 7_000 }]);
    expect(await commandLine().run('ledger', 'verify', '--allowed-lag', 'long')).toBe(1);
  });

  it('asks for the heads of an earlier report, which its own JSON is', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'verify-'));
    try {
      const [earlier, other] = [path.join(directory, 'earlier.json'), path.join(directory, 'other.json')];
      const first = commandLine();
      await first.run('ledger', 'verify', '--json');
      await writeFile(earlier, first.printed());
      await writeFile(other, '{"heads":[{"chain":"payouts/0"}]}');
      const line = commandLine();
      expect(await line.run('ledger', 'verify', '--since', earlier)).toBe(0);
      expect(line.requests).toEqual([{ ...defaults, crossCheck: true, earlierHeads: cleanReport.heads }]);
      for (const wrong of [other, path.join(directory, 'none.json')]) {
        const refused = commandLine();
        expect(await refused.run('ledger', 'verify', '--since', wrong)).toBe(1);
        expect(refused.requests).toEqual([]);
        expect(refused.complained()).toContain('--since: ');
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('shows how far it is', async () => {
    const line = commandLine();
    await line.run('ledger', 'verify');
    expect(line.shown).toEqual(['pages ██████░░░░░░░░░░░░░░░░░░ 25 % of 12,000']);
  });

  it('explains the rules', async () => {
    const line = commandLine();
    expect(await line.run('ledger', 'verify', '--help')).toBe(0);
    expect(line.printed()).toMatch(/L4 {2}available and held are never below zero/);
  });
});
