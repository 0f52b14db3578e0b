import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const scriptsDirectory = path.resolve(import.meta.dirname, '../../scripts');

/** A checkout of nothing but the bootstrap, with pretended `npm` and `pnpm`: no network, no wait. */
let checkout: string;
let bin: string;

const writeProgram = async (name: string, body: string): Promise<void> => {
  await writeFile(path.join(bin, name), `#!/bin/sh\necho "${name} $*" >> "${checkout}/calls"\n${body}\n`);
  await chmod(path.join(bin, name), 0o755);
};

const workingPnpm =
  'case "$1" in --version) echo 12.21.0;; install) mkdir -p node_modules; touch node_modules/.modules.yaml;; esac';

const start = (script: string, ...scriptArguments: string[]): ChildProcess =>
  spawn(process.execPath, [path.join(checkout, 'scripts/bootstrap.mjs'), script, ...scriptArguments], {
    // A session of its own, away from any terminal, as in continuous integration.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${bin}:/usr/bin:/bin` },
  });

const finish = (child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> =>
  new Promise((resolve) => {
    let out = '';
    let err = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });

const run = (script: string, ...scriptArguments: string[]): ReturnType<typeof finish> =>
  finish(start(script, ...scriptArguments));

/** The manifest of the checkout with one script more, written as those of this repository are. */
const manifestRunning = async (script: string): Promise<string> => {
  const own = JSON.parse(await readFile(path.join(scriptsDirectory, '../package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const wait = own.scripts['start']?.replace('scripts/start.ts', script);
  return JSON.stringify({ packageManager: 'pnpm@12.21.0', scripts: { wait } });
};

const calls = async (): Promise<readonly string[]> =>
  (await readFile(path.join(checkout, 'calls'), 'utf8')).trim().split('\n');

beforeEach(async () => {
  checkout = await mkdtemp(path.join(os.tmpdir(), 'pesewa-bootstrap-'));
  bin = path.join(checkout, 'bin');
  await mkdir(bin);
  await cp(path.join(scriptsDirectory, 'bootstrap.mjs'), path.join(checkout, 'scripts/bootstrap.mjs'));
  await cp(path.join(scriptsDirectory, 'bootstrap'), path.join(checkout, 'scripts/bootstrap'), {
    recursive: true,
  });
  const nodeVersion = process.versions.node;
  await writeFile(path.join(checkout, 'package.json'), '{ "packageManager": "pnpm@12.21.0" }\n');
  await writeFile(
    path.join(checkout, 'pnpm-workspace.yaml'),
    `packages:\n  - packages/*\nnodeVersion: ${nodeVersion}\n`,
  );
  await writeFile(path.join(checkout, 'pnpm-lock.yaml'), 'lockfileVersion: 9\n');
  await writeFile(
    path.join(checkout, 'echo.ts'),
    'const n: number = 3; console.log(process.argv.slice(2).join()); process.exit(n);\n',
  );
  await writeProgram('pnpm', workingPnpm);
});

afterEach(() => rm(checkout, { recursive: true, force: true }));

describe('bootstrap', () => {
  it('installs once, hands arguments and the exit code over, and installs again only after a change', async () => {
    const cold = await run('echo.ts', 'a', '--b');
    expect(cold).toMatchObject({ code: 3, out: 'a,--b\n' });
    expect(cold.err).toContain('installing packages');
    expect(await run('echo.ts', 'c')).toEqual({ code: 3, out: 'c\n', err: '' });
    const installs = async (): Promise<number> =>
      (await calls()).filter((call) => call.includes('install')).length;
    expect(await installs()).toBe(1);
    await writeFile(path.join(checkout, 'pnpm-lock.yaml'), 'lockfileVersion: 9\nchanged: true\n');
    await run('echo.ts');
    expect(await installs()).toBe(2);
  });

  it('passes SIGTERM on and ends as the script ends', async () => {
    const script =
      "process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('up');";
    await writeFile(path.join(checkout, 'wait.ts'), script);
    const child = start('wait.ts');
    child.stdout?.once('data', () => child.kill('SIGTERM'));
    expect(await finish(child)).toMatchObject({ code: 9, out: 'up\n' });
  });

  it('ends the script when npm is killed, which can pass nothing on', async () => {
    const script =
      "process.on('SIGHUP', () => { console.log('ended'); process.exit(9); }); setInterval(() => {}, 1000); console.log('up');";
    await writeFile(path.join(checkout, 'wait.ts'), script);
    await writeFile(path.join(checkout, 'package.json'), await manifestRunning('wait.ts'));
    const npm = spawn('npm', ['run', '--silent', 'wait'], {
      cwd: checkout,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    });
    npm.stdout.once('data', () => npm.kill('SIGKILL'));
    expect(await finish(npm)).toMatchObject({ out: 'up\nended\n' });
  });

  it.each([
    ['getaddrinfo ENOTFOUND registry.example', 'the package registry cannot be reached'],
    ['ENOSPC: no space left on device', 'the disk is full'],
    ['ERR_PNPM_OUTDATED_LOCKFILE', 'pnpm-lock.yaml does not match'],
    ['EACCES: permission denied', 'this directory cannot be written'],
    ['something else went wrong', 'something else went wrong (all of it in .pesewa/bootstrap.log)'],
  ])('says in one line what to do about: %s', async (output, said) => {
    await writeProgram('pnpm', `case "$1" in --version) echo 12.21.0;; *) echo "${output}"; exit 1;; esac`);
    const { code, err } = await run('echo.ts');
    expect(code).toBe(1);
    expect(err.split('\n')).toEqual(['installing packages …', expect.stringContaining(said), '']);
  });

  it('says in one line that npm is missing where it is needed', async () => {
    await rm(path.join(bin, 'pnpm'));
    const child = spawn(process.execPath, [path.join(checkout, 'scripts/bootstrap.mjs'), 'echo.ts'], {
      env: { PATH: bin },
    });
    const { code, err } = await finish(child);
    expect(code).toBe(1);
    expect(err).toContain('npm is not on PATH');
  });

  it('takes over the lock of a process that died', async () => {
    await mkdir(path.join(checkout, '.pesewa/bootstrap.lock'), { recursive: true });
    const owner = JSON.stringify({ pid: 2 ** 22 + 1, token: 'dead' });
    await writeFile(path.join(checkout, '.pesewa/bootstrap.lock/owner.json'), owner);
    expect(await run('echo.ts', 'mine')).toMatchObject({ code: 3, out: 'mine\n' });
  });

  it('lets only one of two processes install', async () => {
    const [one, two] = await Promise.all([run('echo.ts', 'one'), run('echo.ts', 'two')]);
    expect([one.out, two.out]).toEqual(['one\n', 'two\n']);
    expect((await calls()).filter((call) => call.includes('install'))).toHaveLength(1);
  });
});
