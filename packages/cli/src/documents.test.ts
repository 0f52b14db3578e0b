import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { leavesOf, pathOf } from './help.ts';
import { commandLine } from './program.fixture.ts';
import { createProgram } from './program.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const documents = globSync(
  ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'services/*/README.md', 'deploy/**/*.md'],
  { cwd: root, exclude: (name) => name.includes('node_modules') },
);

/** A command in a document: the text after `pesewa`, up to the end of the code or a shell operator. */
const CALL = /(?:^|[`\s])(?:npm run (?:-s )?pesewa --|pesewa)[ ]((?:[a-z][a-z-]*|-)[^`\n#|&;]*)/gm;
/** The code in a document. */
const CODE = /```[a-z]*\n([\s\S]*?)```|`([^`\n]+)`/g;

interface Call {
  readonly file: string;
  readonly text: string;
}

const calls: readonly Call[] = documents.flatMap((file) =>
  [...read(file).matchAll(CODE)].flatMap(([, block, inline]) =>
    [...(block ?? inline ?? '').matchAll(CALL)].map(([, text = '']) => ({ file, text: text.trim() })),
  ),
);

/** Whether a word is a placeholder: it stands for a value or for omitted words. */
const isLeftOut = (word: string) => word === '…' || word === '...';

/** What is wrong with a command; undefined if the command line accepts it. */
function problemOf({ text }: Call): string | undefined {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  let command: Command = createProgram(commandLine().ports);
  let rest = words.filter((word) => !isLeftOut(word));
  for (let [first, ...others] = rest; command.commands.length > 0; [first, ...others] = rest) {
    const below = command.commands.find((one) => one.name() === first);
    if (!below) break;
    command = below;
    rest = others;
  }
  const [first] = rest;
  const isGroup = command.commands.length > 0;
  if (isGroup && first !== undefined && !first.startsWith('-')) return `${first} is no command`;
  const { unknown } = command.parseOptions(rest.filter((word) => word !== '--help'));
  return unknown.length > 0 ? `${unknown.join(' ')} is no option` : undefined;
}

it('every call that a document shows is one of the command line', () => {
  expect(calls.length).toBeGreaterThan(40);
  expect(
    calls.flatMap((call) => {
      const problem = problemOf(call);
      return problem === undefined ? [] : [{ ...call, problem }];
    }),
  ).toEqual([]);
});

it('finds a call that is none', () => {
  const of = (text: string) => problemOf({ file: '', text });
  expect(of('reconcile brakes')).toBe('brakes is no command');
  expect(of('reconcile breaks list --kinds a')).toBe('--kinds a is no option');
  expect(of('reconcile breaks adjust … --suspense')).toBeUndefined();
});

it('the README names every command of reconcile, and nothing else', () => {
  const reconcile = createProgram(commandLine().ports).commands.find((one) => one.name() === 'reconcile');
  if (!reconcile) throw new Error('there is no reconcile');
  const rows = [...read('packages/cli/README.md').matchAll(/^\| `(reconcile [a-z ]+?)(?: [<[].*)?` \|/gm)];
  const named = rows.map(([, name]) => `pesewa ${name}`);
  expect(named.toSorted()).toEqual(leavesOf(reconcile).map(pathOf).toSorted());
});
