// Builds `pesewa` as a package that any Node can install, and packs it: `npm run pack:cli -- DIRECTORY`, or `.pesewa/pack`.
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { repositoryRoot, runCommand } from './command.ts';

const kafkajs = path.join(repositoryRoot, 'packages', 'kafka', 'node_modules', 'kafkajs');

/**
 * Keeps kafkajs outside the bundle, because packages/kafka patches its files by path, and loads it where the sources
 * do: as an import of the bundle it would be loaded before its patches.
 */
const kafkajsInOrder: Plugin = {
  name: 'kafkajs-in-order',
  resolveId: (id) => (id === 'kafkajs' ? '\0kafkajs' : undefined),
  load: (id) =>
    id === '\0kafkajs'
      ? { code: 'module.exports = require("kafkajs/index.js");', moduleType: 'js' }
      : undefined,
};

const bundle = async (file: string): Promise<void> => {
  const build = await rolldown({
    input: path.join(repositoryRoot, 'packages', 'cli', 'src', 'main.ts'),
    platform: 'node',
    external: ['kafkajs/index.js'],
    plugins: [kafkajsInOrder],
    logLevel: 'warn',
    // For the registry's HTTP client, which detects its environment in that way.
    checks: { eval: false },
  });
  await build.write({ file, format: 'esm', banner: '#!/usr/bin/env node', codeSplitting: false });
  await build.close();
  await chmod(file, 0o755);
};

const manifest = async (): Promise<string> => {
  const read = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
  const { version, description, license } = await read(path.join(repositoryRoot, 'package.json'));
  const ofKafkajs = await read(path.join(kafkajs, 'package.json'));
  const content = {
    name: 'pesewa',
    version,
    description,
    license,
    type: 'module',
    bin: { pesewa: 'pesewa.js' },
    engines: { node: `>=${process.versions.node.split('.', 1)[0]}` },
    dependencies: { kafkajs: ofKafkajs['version'] },
    bundleDependencies: ['kafkajs'],
  };
  return `${JSON.stringify(content, null, 2)}\n`;
};

/** Packs the command line into `directory`, and resolves with the path of the tarball. */
export const packCli = async (directory: string): Promise<string> => {
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'pesewa-pack-'));
  try {
    await bundle(path.join(scratch, 'pesewa.js'));
    await writeFile(path.join(scratch, 'package.json'), await manifest());
    await cp(await realpath(kafkajs), path.join(scratch, 'node_modules', 'kafkajs'), { recursive: true });
    await mkdir(directory, { recursive: true });
    const packed = await runCommand('pnpm', ['pack', '--pack-destination', directory, '--json'], {
      directory: scratch,
    });
    if (packed.code !== 0) throw new Error(`pnpm pack ended with ${packed.code}:\n${packed.output}`);
    const { filename } = JSON.parse(packed.output) as { readonly filename: string };
    return filename;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  const directory = path.resolve(process.argv[2] ?? path.join(repositoryRoot, '.pesewa', 'pack'));
  process.stdout.write(`${await packCli(directory)}\n`);
}
