import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { leafCommandsOf, pathOf } from './help.ts';
import { commandLine } from './program.fixture.ts';
import { createProgram } from './program.ts';

const program = createProgram(commandLine().ports);
const leaves = leafCommandsOf(program);

async function helpOf(...path: readonly string[]): Promise<string> {
  const line = commandLine();
  expect(await line.run(...path, '--help')).toBe(0);
  return line.printed();
}

/** Words of a shell command: quoted ones are one word. */
const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** The command that the words name, and the remaining words. */
function follow(command: Command, words: readonly string[]): readonly [Command, readonly string[]] {
  const [first, ...rest] = words;
  const below = command.commands.find((candidate) => candidate.name() === first);
  return below ? follow(below, rest) : [command, words];
}

describe('pesewa --help', () => {
  it('explains every command', async () => {
    const help = await helpOf();
    expect(leaves.length).toBeGreaterThan(15);
    for (const leaf of leaves) {
      expect(help).toContain(pathOf(leaf).replace('pesewa ', '  '));
      expect(help).toContain(leaf.description());
    }
  });
});

describe.each(leaves.map((leaf) => [pathOf(leaf), leaf] as const))('%s --help', (path, leaf) => {
  const words = path.split(' ').slice(1);

  it('says what it does and what each argument and option is', async () => {
    const help = (await helpOf(...words)).replace(/\s+/g, ' ');
    expect(leaf.description().length).toBeGreaterThan(15);
    expect(help).toContain(leaf.description());
    for (const { description } of [...leaf.registeredArguments, ...leaf.options]) {
      expect(description).not.toBe('');
      expect(help).toContain(description);
    }
  });

  it('shows examples that are calls of this very command', async () => {
    const [, examples = ''] = (await helpOf(...words)).split('\nExamples:\n');
    const calls = examples.split('\n\n', 1)[0]?.split('\n') ?? [];
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      const [, given = ''] = /^ {2}(?:[A-Z_]+=\S+ )*pesewa (.*)$/.exec(call) ?? [];
      const fresh = createProgram(commandLine().ports);
      const [found, rest] = follow(fresh, wordsOf(given));
      expect(pathOf(found)).toBe(path);
      const { operands, unknown } = found.parseOptions([...rest]);
      expect([call, unknown]).toEqual([call, []]);
      const required = found.registeredArguments.filter((argument) => argument.required).length;
      expect(operands.length).toBeGreaterThanOrEqual(required);
      expect(operands.length).toBeLessThanOrEqual(found.registeredArguments.length);
      const missing = found.options.filter(({ mandatory, long }) => mandatory && !rest.includes(long ?? ''));
      expect(missing).toEqual([]);
    }
  });
});

it.each([
  [],
  ...['status', 'run', 'drift', 'timeline', 'poll', 'close', 'match'].map((name) => ['reconcile', name]),
])('the help of pesewa %s %s has its exit codes', async (...words) => {
  expect(await helpOf(...words)).toMatch(/\nExit code: [01] /);
});

it.each([
  ['merchants create', 'price of a payout: .* \\(default: "1%"\\)'],
  ['merchants set-limits', '--beneficiary-day-max <currency:amount>'],
  ['merchants set-webhooks', '--payouts-url <url>'],
  ['merchants history', 'merchant its id'],
  ['reconcile breaks resolve', '--approve <operator>'],
  ['reconcile breaks explain', 'the break stays until .* why it differs'],
  ['settings approve', 'PESEWA_APPROVER_TOKEN=… pesewa settings approve'],
])('the help of pesewa %s says %s', async (words, said) => {
  expect((await helpOf(...words.split(' '))).replace(/\s+/g, ' ')).toMatch(new RegExp(said));
});

it('reconcile --help lists its groups among its commands', async () => {
  const [, groups = ''] = (await helpOf('reconcile')).split('Payments that do not end');
  expect(groups.split('\n\n', 1)[0]).toMatch(/\n {2}breaks /);
});

it('every group of commands says what it is for', () => {
  const groups = (command: Command): readonly Command[] =>
    command.commands.flatMap((below) => (below.commands.length > 0 ? [below, ...groups(below)] : []));
  for (const group of groups(program)) expect(group.description().length).toBeGreaterThan(10);
});
