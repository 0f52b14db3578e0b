// Entry point of every root script: `node scripts/bootstrap.mjs <script.ts> [args…]` on any Node from 20 on.
// It fetches the pinned Node and pnpm where the host lacks them, installs the workspace's packages when they
// changed, and hands over. Plain JavaScript on built-in modules, because nothing is installed yet when it runs.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { explainFailure } from './bootstrap/failures.mjs';
import { installHash } from './bootstrap/install-hash.mjs';
import { acquireLock } from './bootstrap/lock.mjs';
import { readText } from './bootstrap/read-text.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const stateDirectory = path.join(root, '.pesewa');
const toolsDirectory = path.join(stateDirectory, 'tools');
const toolsBin = path.join(toolsDirectory, 'node_modules', '.bin');
const installStamp = path.join(stateDirectory, 'install.stamp');
const logFile = path.join(stateDirectory, 'bootstrap.log');
const nodeMajorMin = 20;

/** Said on stderr, so that a script's stdout stays its own. */
const say = (line) => process.stderr.write(`${line}\n`);

/** A failure that the user can act on: its message is the one line shown. */
class BootstrapError extends Error {}

let child;
let settingUp = true;
const lastForwardedMs = new Map();

/** Passes a signal to the running child once; npm and the terminal may both send it within a moment. */
const forward = (signal) => {
  if (child === undefined) process.exit(128 + os.constants.signals[signal]);
  const nowMs = Date.now();
  if (nowMs - (lastForwardedMs.get(signal) ?? 0) < 500) return;
  lastForwardedMs.set(signal, nowMs);
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // A terminal delivers Ctrl-C to the whole process group, the child included.
  if (signal === 'SIGINT' && terminal && !settingUp) return;
  // A setup step leads its own process group, so that npm's own children end with it.
  if (settingUp) process.kill(-child.pid, signal);
  else child.kill(signal);
};

const exitCodeOf = (code, signal) => code ?? 128 + (os.constants.signals[signal] ?? 0);

/** Runs a command to its end and resolves with its exit code and joined output; never rejects. */
const capture = (command, commandArguments, options = {}) =>
  new Promise((resolve) => {
    const running = spawn(command, commandArguments, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...options,
    });
    if (running.pid !== undefined) child = running;
    let output = '';
    const collect = (chunk) => {
      output += chunk;
    };
    running.stdout.setEncoding('utf8').on('data', collect);
    running.stderr.setEncoding('utf8').on('data', collect);
    running.on('error', (error) => resolve({ code: 127, output: `${error.code} ${error.message}` }));
    running.on('close', (code, signal) => {
      if (child === running) child = undefined;
      const [interrupt] = lastForwardedMs.keys();
      if (interrupt !== undefined) process.exit(exitCodeOf(null, interrupt));
      resolve({ code: exitCodeOf(code, signal), output });
    });
  });

/** Runs a slow step with a line each ten seconds, so that a slow network does not look like a hang. */
const step = async (what, command, commandArguments, options) => {
  say(`${what} …`);
  const startedMs = Date.now();
  const seconds = () => Math.round((Date.now() - startedMs) / 1000);
  const ticker = setInterval(() => say(`  still at it after ${seconds()} s`), 10_000);
  const result = await capture(command, commandArguments, options);
  clearInterval(ticker);
  if (result.code !== 0) {
    fs.writeFileSync(logFile, result.output);
    throw new BootstrapError(explainFailure(what, command, result.output, path.relative(root, logFile)));
  }
  say(`  done in ${seconds()} s`);
};

/** Pinned versions, written down once: `packageManager` in package.json, `nodeVersion` in pnpm-workspace.yaml. */
const readPins = () => {
  const pnpm = /"packageManager":\s*"pnpm@([\d.]+)/.exec(
    readText(path.join(root, 'package.json')) ?? '',
  )?.[1];
  const node = /^nodeVersion:\s*'?([\d.]+)/m.exec(
    readText(path.join(root, 'pnpm-workspace.yaml')) ?? '',
  )?.[1];
  if (pnpm === undefined || node === undefined) {
    throw new BootstrapError(
      'package.json must pin packageManager "pnpm@x.y.z" and pnpm-workspace.yaml nodeVersion: restore both files.',
    );
  }
  return { node, pnpm };
};

/** Environment without what a surrounding `npm run` says about its own project; registry and proxy settings stay. */
const cleanEnvironment = () => {
  const foreign =
    /^npm_(package_|lifecycle_|command$|execpath$|node_execpath$|config_(local_prefix|prefix|global_prefix|global|workspaces?|omit|include|ignore_scripts|dry_run|production)$)/i;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: [toolsBin, process.env.PATH].filter(Boolean).join(path.delimiter),
  };
};

/** What `.pesewa/tools` holds, by its stamp; a tool whose binary was deleted does not count. */
const fetchedTools = () => {
  try {
    const stamp = JSON.parse(readText(path.join(toolsDirectory, 'stamp.json')) ?? '{}');
    return Object.fromEntries(
      Object.entries(stamp).filter(([name]) => fs.existsSync(path.join(toolsBin, name))),
    );
  } catch {
    return {};
  }
};

/** Names the pinned tools that neither the host nor `.pesewa/tools` provides, with their versions. */
const missingTools = async (pins) => {
  const fetched = fetchedTools();
  const missing = {};
  const nodeIsRight = process.versions.node.split('.')[0] === pins.node.split('.')[0];
  if (!nodeIsRight && fetched.node !== pins.node) missing.node = pins.node;
  if (fetched.pnpm !== pins.pnpm) {
    // Asked outside the project and without network: corepack and older pnpm would start a download here.
    const environment = { ...cleanEnvironment(), COREPACK_ENABLE_NETWORK: '0' };
    const found = await capture('pnpm', ['--version'], { cwd: os.tmpdir(), env: environment });
    if (found.code !== 0 || found.output.trim() !== pins.pnpm) missing.pnpm = pins.pnpm;
  }
  return missing;
};

/** Removes half-fetched tools of killed runs; what cannot be removed now can wait for the next time. */
const removeLeftovers = () => {
  for (const name of fs.readdirSync(stateDirectory).filter((entry) => entry.startsWith('tools-'))) {
    try {
      fs.rmSync(path.join(stateDirectory, name), { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      if (error.code !== 'ENOTEMPTY') throw error;
    }
  }
};

/** Installs the missing tools beside the old ones, tries them, then swaps the directories in one rename. */
const fetchTools = async (missing, pins) => {
  const fresh = `${toolsDirectory}-${process.pid}`;
  removeLeftovers();
  // What was fetched before stays in: hosts with different Nodes may share one checkout.
  const kept = Object.entries(fetchedTools()).filter(([name, version]) => pins[name] === version);
  const wanted = { ...Object.fromEntries(kept), ...missing };
  const allowScripts = Object.fromEntries(Object.keys(wanted).map((name) => [name, true]));
  fs.mkdirSync(fresh, { recursive: true });
  const manifest = { private: true, dependencies: wanted, allowScripts };
  fs.writeFileSync(path.join(fresh, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const titles = { node: 'Node', pnpm: 'pnpm' };
  const names = Object.entries(missing).map(([name, version]) => `${titles[name]} ${version}`);
  const flags = [
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--ignore-scripts=false',
    '--loglevel=error',
    '--fetch-retry-mintimeout=1000',
  ];
  await step(`fetching ${names.join(' and ')}`, 'npm', ['install', ...flags], {
    cwd: fresh,
    env: cleanEnvironment(),
  });
  for (const [name, version] of Object.entries(wanted)) {
    const binary = path.join(fresh, 'node_modules', '.bin', name);
    const answer = await capture(binary, ['--version'], { cwd: fresh, env: cleanEnvironment() });
    if (answer.code !== 0 || answer.output.trim().replace(/^v/, '') !== version) {
      throw new BootstrapError(
        `${titles[name]} ${version} was fetched but does not run here (${answer.output.trim().split('\n')[0]}): ` +
          `install ${titles[name]} ${version} yourself and run again.`,
      );
    }
  }
  fs.writeFileSync(path.join(fresh, 'stamp.json'), `${JSON.stringify(wanted)}\n`);
  fs.rmSync(toolsDirectory, { recursive: true, force: true });
  fs.renameSync(fresh, toolsDirectory);
};

const packagesAreInstalled = () =>
  fs.existsSync(path.join(root, 'node_modules', '.modules.yaml')) &&
  readText(installStamp)?.trim() === installHash(root);

const installPackages = async () => {
  const flags = ['--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false'];
  await step('installing packages', 'pnpm', ['install', ...flags], { cwd: root, env: cleanEnvironment() });
  fs.writeFileSync(installStamp, `${installHash(root)}\n`);
};

/** Makes tools and packages ready; only one process of a checkout does so at a time. */
const setUp = async () => {
  const pins = readPins();
  const isReady = async () => Object.keys(await missingTools(pins)).length === 0 && packagesAreInstalled();
  if (await isReady()) return pins;
  fs.mkdirSync(stateDirectory, { recursive: true });
  const release = await acquireLock(path.join(stateDirectory, 'bootstrap.lock'), (owner) =>
    say(`waiting for process ${owner}, which is preparing this checkout …`),
  );
  try {
    const missing = await missingTools(pins);
    if (Object.keys(missing).length > 0) await fetchTools(missing, pins);
    if (!packagesAreInstalled()) await installPackages();
  } finally {
    release();
  }
  return pins;
};

/** Runs the script under the pinned Node and ends with its exit code. */
/** Ends what runs once npm is gone: it can't say so when it is killed. The shell between them gives way by `exec`. */
const endWithParent = () => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    forward('SIGHUP');
  }, 500).unref();
};

const handOver = (pins, script, scriptArguments) => {
  const fetchedNode = path.join(toolsBin, 'node');
  const node = fetchedTools().node === pins.node ? fetchedNode : process.execPath;
  const flags = ['--disable-warning=ExperimentalWarning'];
  settingUp = false;
  child = spawn(node, [...flags, path.resolve(root, script), ...scriptArguments], {
    stdio: 'inherit',
    cwd: root,
    // Compiled modules are kept from process to process: a service starts in half the time.
    env: { NODE_COMPILE_CACHE: path.join(stateDirectory, 'compiled'), ...cleanEnvironment() },
  });
  child.on('error', (error) => {
    say(`pesewa: Node ${pins.node} does not start (${error.message}): remove .pesewa/tools and run again.`);
    process.exit(1);
  });
  child.on('close', (code, signal) => process.exit(exitCodeOf(code, signal)));
};

const main = async () => {
  const [script, ...scriptArguments] = process.argv.slice(2);
  if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
    throw new BootstrapError(
      `Node ${nodeMajorMin} or later is needed, this is ${process.versions.node}: update Node.`,
    );
  }
  if (process.platform === 'win32')
    throw new BootstrapError('Windows is not supported directly: run this inside WSL.');
  if (script === undefined)
    throw new BootstrapError('usage: node scripts/bootstrap.mjs <script.ts> [arguments…]');
  if (!fs.existsSync(path.resolve(root, script))) throw new BootstrapError(`${script} does not exist.`);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  endWithParent();
  handOver(await setUp(), script, scriptArguments);
};

try {
  await main();
} catch (error) {
  const text =
    error instanceof BootstrapError ? error.message : explainFailure('preparing', 'node', String(error));
  say(`pesewa: ${text}`);
  process.exit(1);
}
