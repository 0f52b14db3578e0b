import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from './command.ts';
import { packCli } from './pack-cli.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the packed command line', { timeout: 30_000 }, () => {
  let directory: string;

  /** Runs the installed `pesewa` with only these variables. */
  const pesewa = (callArguments: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    new Promise<Run>((resolve) => {
      const file = path.join(directory, 'node_modules', '.bin', 'pesewa');
      const env = { PATH: process.env['PATH'], ...environment };
      execFile(file, [...callArguments], { cwd: directory, env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'pesewa-packed-'));
    const tarball = await packCli(path.join(directory, 'packed'));
    await writeFile(path.join(directory, 'package.json'), '{ "private": true }\n');
    const { code, output } = await runCommand('pnpm', ['add', '--offline', tarball], { directory });
    if (code !== 0) throw new Error(output);
  }, 60_000);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('installs from its tarball alone, and knows its commands', async () => {
    const { code, stdout, stderr } = await pesewa(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: pesewa /);
    expect(stdout).toContain('prepare');
  });

  it('says in one line what it can not reach', async () => {
    const environment = { RECONCILER_URL: 'http://127.0.0.1:1', OPERATOR_TOKEN: 'a-token-of-a-test' };
    const { code, stdout, stderr } = await pesewa(['drift'], environment);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'pesewa: http://127.0.0.1:1 does not answer: start the service, or set its address\n',
    );
  });

  it('belongs to no checkout: a run file that lies where one would be is not read', async () => {
    const installed = await realpath(path.join(directory, 'node_modules', 'pesewa'));
    const folder = path.join(installed, '..', '..', '..', '.pesewa');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'run.json'), 'not read');
    const { code, stderr } = await pesewa(['drift']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^pesewa: RECONCILER_URL: .* isn't known/);
  });

  it('loads kafkajs after its patches', async () => {
    const bundle = await readFile(path.join(directory, 'node_modules', 'pesewa', 'pesewa.js'), 'utf8');
    expect(bundle).toContain('"kafkajs/index.js"');
    expect(bundle).not.toMatch(/^import .*kafkajs/m);
  });
});
