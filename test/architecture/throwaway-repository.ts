import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '@pesewa/scripts/command';
import { guards, runGuards } from '@pesewa/scripts/guards';

const configurationFiles = [
  '.oxlintrc.json',
  'biome.json',
  'knip.json',
  'tsconfig.base.json',
  'tsconfig.json',
  'turbo.json',
];
const rootManifest = {
  name: 'violations',
  version: '0.1.0',
  private: true,
  type: 'module',
  packageManager: 'pnpm@12.21.0',
};

/** The result of a guard: whether it passed, and its output. */
export interface Verdict {
  readonly passed: boolean;
  readonly output: string;
}

/** A temporary copy of one tree of violations under the repository's real configuration. */
export interface ThrowawayRepository extends AsyncDisposable {
  /** Runs one guard on the copy, exactly as `verify` runs it on the repository. */
  readonly runGuard: (guard: string) => Promise<Verdict>;
}

const runGuard = async (name: string, directory: string): Promise<Verdict> => {
  let output = '';
  const collect = (text: string): void => {
    output += text;
  };
  const selected = guards.filter((guard) => guard.name === name);
  const { passed, failures } = await runGuards(selected, collect, { directory });
  return { passed: passed > 0 && failures.length === 0, output };
};

/** Copies `violations/<name>` to a temporary directory and adds the configuration and the installed tools. */
export const openThrowawayRepository = async (name: string): Promise<ThrowawayRepository> => {
  const parent = await mkdtemp(path.join(os.tmpdir(), `pesewa-${name}-`));
  const directory = path.join(parent, 'repository');
  const source = path.join(import.meta.dirname, 'violations', name);
  await cp(source, directory, { recursive: true });
  for (const file of configurationFiles)
    await cp(path.join(repositoryRoot, file), path.join(directory, file));
  if (!(await readdir(source)).includes('package.json')) {
    await writeFile(path.join(directory, 'package.json'), `${JSON.stringify(rootManifest, null, 2)}\n`);
  }
  // Beside it, where packages are found too: some tools would read all that a link within it leads to.
  await symlink(path.join(repositoryRoot, 'node_modules'), path.join(parent, 'node_modules'));
  return {
    runGuard: (guard) => runGuard(guard, directory),
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
};
