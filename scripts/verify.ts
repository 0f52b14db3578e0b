// Every check that needs no infrastructure: one line each, then the output of the failed ones. Arguments select some of
// the guards; `--in <directory>` runs them on another tree, as the architecture tests do.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from './command.ts';
import { guards, runGuards } from './guards.ts';
import { listed } from './test-results.ts';

const print = (text: string): void => {
  process.stdout.write(text);
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { in: { type: 'string' } } });
const unknown = positionals.find((name) => guards.every((guard) => guard.name !== name));
if (unknown === undefined) {
  const selected = guards.filter((guard) => positionals.length === 0 || positionals.includes(guard.name));
  const { failures, leftOut } = await runGuards(selected, print, {
    directory: path.resolve(values.in ?? repositoryRoot),
  });
  print(listed('left out', leftOut));
  process.exitCode = failures.length === 0 ? 0 : 1;
} else {
  print(`no guard "${unknown}": there are ${guards.map((guard) => guard.name).join(', ')}\n`);
  process.exitCode = 1;
}
