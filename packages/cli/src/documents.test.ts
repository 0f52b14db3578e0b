import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { leafCommandsOf, pathOf } from './help.ts';
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

/** The command that a call means, and the words after its name. */
function commandOf(text: string): readonly [Command, readonly string[]] {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  let command: Command = createProgram(commandLine().ports);
  let rest = words.filter((word) => !isLeftOut(word));
  for (let [first, ...others] = rest; command.commands.length > 0; [first, ...others] = rest) {
    const below = command.commands.find((one) => one.name() === first);
    if (!below) break;
    command = below;
    rest = others;
  }
  return [command, rest];
}

/** What is wrong with a command; undefined if the command line accepts it. */
function problemOf({ text }: Call): string | undefined {
  const [command, rest] = commandOf(text);
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

const sources = globSync(['packages/*/src/**/*.ts', 'services/*/src/**/*.ts'], {
  cwd: root,
  exclude: (name) => /node_modules|\.test\.ts$|\.fixture\.ts$/.test(name),
});

/** A command in a text that is printed; it ends with its last argument, and texts continue after a comma or the like. */
const PRINTED = /\bpesewa ([a-z][a-z-]*(?: (?:"[^"]*"|(?:\$\{[^}]*\}|[^\s,;:)(`'\\]|[,:](?=[^\s`']))+))*)/g;
/** Stands for values that are filled in; the only ones with choices are services. */
const VALUE = 'ledger';

/** The commands that we print; values that are filled in when they are printed are left as one word. */
const printed: readonly Call[] = sources.flatMap((file) =>
  read(file)
    .replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '')
    .matchAll(PRINTED)
    .map(([, text = '']) => ({ file, text: text.replaceAll(/\$\{[^}]*\}/g, VALUE) }))
    .toArray(),
);

/** Why a printed command does not run as it is; undefined if it does. */
function whyNotRunnable(call: Call): string | undefined {
  const [command, rest] = commandOf(call.text);
  // The name of the command is filled in too.
  if (command.commands.length > 0 && rest[0] === VALUE) return undefined;
  if (rest.includes('--help')) return problemOf(call);
  const { operands } = command.parseOptions([...rest]);
  const missing = command.registeredArguments.slice(operands.length).find(({ required }) => required);
  if (missing) return `it lacks <${missing.name()}>`;
  if (command.commands.length === 0 && operands.length > command.registeredArguments.length)
    return `${operands.slice(command.registeredArguments.length).join(' ')} is too much`;
  const option = command.options.find(({ mandatory, long }) => mandatory && !rest.includes(long ?? ''));
  return option ? `it lacks ${option.long}` : problemOf(call);
}

it('every command that we print runs as it is printed', () => {
  expect(printed.length).toBeGreaterThan(60);
  expect(
    printed.flatMap((call) => {
      const problem = whyNotRunnable(call);
      return problem === undefined ? [] : [{ ...call, problem }];
    }),
  ).toEqual([]);
});

it('finds a printed command that does not run', () => {
  const why = (text: string) => whyNotRunnable({ file: '', text });
  expect(why('orders reject cm-1')).toBe('it lacks --reason');
  expect(why('timeline')).toBe('it lacks <reference>');
  expect(why('reconcile run now')).toBe('now is too much');
  expect(why('orders reject cm-1 --reason "withdrawn"')).toBeUndefined();
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
  const rows = read('packages/cli/README.md').match(/^- `[^*]*?`: /gm) ?? [];
  const names = rows.flatMap((row) => [...row.matchAll(/`([a-z ]+?)(?: [<[][^`]*)?`/g)]);
  const named = names.map(([, name]) => `pesewa reconcile ${name}`);
  expect(named.toSorted()).toEqual(leafCommandsOf(reconcile).map(pathOf).toSorted());
});
