// Entry point of every root script: `node scripts/bootstrap.mjs <script.ts> [args…]` on any Node from 20 on.
// It lets npm fetch the pinned Node and pnpm where the host lacks them, lets pnpm install the workspace's packages when they
// changed, and hands over. Plain JavaScript on built-in modules, because nothing is installed yet when it runs.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const state = path.join(root, '.pesewa');
const tools = path.join(state, 'tools');
const bin = path.join(tools, 'node_modules', '.bin');
const stamp = path.join(state, 'install.stamp');
const lock = path.join(state, 'bootstrap.lock');

/** Said on stderr, so that a script's stdout stays its own. */
const say = (line) => process.stderr.write(`${line}\n`);

/** Says in one line what the user can do, and ends. */
const fail = (line) => {
  say(`pesewa: ${line}`);
  process.exit(1);
};

/** The text of a file of this checkout; empty if there is none. */
const read = (file) => {
  const absolute = path.resolve(root, file);
  return fs.existsSync(absolute) ? fs.readFileSync(absolute, 'utf8') : '';
};

/** Pinned versions, written down once. */
const pins = {
  node: /^nodeVersion: '?([\d.]+)/m.exec(read('pnpm-workspace.yaml'))?.[1],
  pnpm: /"packageManager":\s*"pnpm@([\d.]+)/.exec(read('package.json'))?.[1],
};
const majorOf = (version) => version?.split('.')[0];
const isPinnedNode = majorOf(process.versions.node) === majorOf(pins.node);
const node = isPinnedNode ? process.execPath : path.join(bin, 'node');

/** Everything that decides what `pnpm install` puts into node_modules; the lockfile has what each manifest needs. */
const installed = createHash('sha256')
  .update([root, ...['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'].map(read)].join('\0'))
  .digest('hex');

/** Without what a surrounding `npm run` says about its own project; registry and proxy settings stay. */
const foreign =
  /^npm_(package_|lifecycle_|command$|execpath$|node_execpath$|config_(local_prefix|prefix|global_prefix|global|workspaces?|omit|include|ignore_scripts|dry_run|production)$)/i;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
  PATH: [bin, process.env.PATH].filter(Boolean).join(path.delimiter),
};

/** Runs a step of the setup to its end; what it prints is shown, and says why it failed. */
const step = (what, command, args, cwd) => {
  say(`${what} …`);
  const { error, signal, status } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (error)
    fail(`${what} failed: ${command} is not on PATH: install Node with npm (nodejs.org) and run again.`);
  if (signal) process.exit(128 + os.constants.signals[signal]);
  if (status !== 0)
    fail(`${what} failed: ${command} says above why. Check the network and the disk, and run again.`);
};

/** Asked outside the project and without network: corepack and older pnpm would start a download here. */
const isThere = (tool) => {
  const options = { cwd: os.tmpdir(), env: { ...env, COREPACK_ENABLE_NETWORK: '0' }, encoding: 'utf8' };
  return spawnSync(tool, ['--version'], options).stdout?.trim().replace('v', '') === pins[tool];
};

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
};

const renamed = (from, to) => {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) return false;
    throw error;
  }
};

/**
 * Waits for the lock: a folder that names its owner. A folder can't be renamed to one that holds something, so that one process
 * gets the lock, and one puts that of a dead process aside.
 */
const acquireLock = () => {
  const own = `${lock}-${process.pid}`;
  fs.mkdirSync(path.join(own, String(process.pid)), { recursive: true });
  for (let told; !renamed(own, lock); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)) {
    const [owner] = fs.existsSync(lock) ? fs.readdirSync(lock) : [];
    if (owner === undefined) continue;
    if (!isAlive(Number(owner))) renamed(lock, `${lock}-${owner}-dead`);
    else if (told !== owner) say(`waiting for process ${owner}, which prepares this checkout (${lock}) …`);
    told = owner;
  }
};

/** Makes tools and packages ready; only one process of a checkout does so at a time. */
const setUp = () => {
  const isReady = () =>
    read(stamp) === installed &&
    fs.existsSync(node) &&
    fs.existsSync(path.join(root, 'node_modules/.modules.yaml'));
  if (isReady()) return;
  if (!pins.node || !pins.pnpm)
    fail('package.json must pin packageManager and pnpm-workspace.yaml nodeVersion.');
  acquireLock();
  try {
    if (isReady()) return;
    const wanted = isPinnedNode ? ['pnpm'] : ['node', 'pnpm'];
    if (!wanted.every(isThere)) {
      const dependencies = Object.fromEntries(wanted.map((name) => [name, pins[name]]));
      const allowScripts = { node: true, pnpm: true };
      fs.rmSync(tools, { recursive: true, force: true });
      fs.mkdirSync(tools);
      fs.writeFileSync(
        path.join(tools, 'package.json'),
        JSON.stringify({ private: true, dependencies, allowScripts }),
      );
      const flags = [
        '--no-audit',
        '--no-fund',
        '--no-update-notifier',
        '--ignore-scripts=false',
        '--loglevel=error',
      ];
      step(
        `fetching ${wanted.map((name) => `${name} ${pins[name]}`).join(' and ')}`,
        'npm',
        ['install', ...flags],
        tools,
      );
    }
    const flags = ['--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false'];
    step('installing packages', 'pnpm', ['install', ...flags], root);
    fs.writeFileSync(stamp, installed);
  } finally {
    renamed(lock, `${lock}-${process.pid}-dead`);
    for (const name of fs.readdirSync(state).filter((entry) => /^bootstrap\.lock-.*-dead$/.test(entry)))
      fs.rmSync(path.join(state, name), { recursive: true });
  }
};

/** Runs the script under the pinned Node and ends with its exit code, or with the end of npm. */
const handOver = (script, args) => {
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', path.resolve(root, script), ...args], {
    stdio: 'inherit',
    cwd: root,
    // Compiled modules are kept from process to process: a service starts in half the time.
    env: { NODE_COMPILE_CACHE: path.join(state, 'compiled'), ...env },
  });
  child.on('error', (error) =>
    fail(`${node} does not start (${error.message}): remove .pesewa and run again.`),
  );
  child.on('close', (code, signal) => process.exit(code ?? 128 + os.constants.signals[signal]));
  const isOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // A terminal delivers Ctrl-C to the whole process group, the child included.
  process.on('SIGINT', () => isOnTerminal || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const parent = process.ppid;
  // npm can't say so when it is killed. The shell between it and this process gives way by `exec`.
  setInterval(() => process.ppid === parent || child.kill('SIGHUP'), 500).unref();
};

const [script, ...args] = process.argv.slice(2);
if (Number(majorOf(process.versions.node)) < 20)
  fail(`Node 20 or later is needed, this is ${process.versions.node}: update Node.`);
if (process.platform === 'win32') fail('Windows is not supported directly: run this inside WSL.');
if (!script || !fs.existsSync(path.resolve(root, script)))
  fail('usage: node scripts/bootstrap.mjs <script.ts> [arguments…]');
setUp();
handOver(script, args);
