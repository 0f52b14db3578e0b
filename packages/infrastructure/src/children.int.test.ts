import { spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSupervisor } from './children.ts';
import { StartError } from './errors.ts';
import { waitUntil } from './wait.ts';

const guarded = fileURLToPath(new URL('./fixtures/guarded.ts', import.meta.url));
const deadlineMs = 15_000;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-children-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function running(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
}

describe('children', () => {
  test('are gone, with their listed directory, after their parent is killed by SIGKILL', async () => {
    const data = join(directory, 'data');
    const report = join(directory, 'report.json');
    await mkdir(data);
    const parent = spawn(process.execPath, [guarded, data, report], { stdio: 'ignore' });
    const pids: unknown[] = [];
    await waitUntil('the guarded process', deadlineMs, async () => {
      const value: unknown = JSON.parse(await readFile(report, 'utf8'));
      if (Array.isArray(value)) pids.push(...(value as unknown[]));
    });
    const children = pids.map(Number);
    expect(children).toHaveLength(2);
    for (const pid of children) expect(await running(pid)).toBe(true);

    parent.kill('SIGKILL');
    await waitUntil('the watchdog', deadlineMs, async () => {
      for (const pid of children) if (await running(pid)) throw new Error(`${pid} still runs`);
      const left = await access(data).then(
        () => true,
        () => false,
      );
      if (left) throw new Error('the directory is still there');
    });
  });

  test('are stopped in reverse order, and nothing starts afterwards', async () => {
    const supervisor = createSupervisor();
    const ended: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      const child = await supervisor.spawnChild({ name, command: 'sleep', args: ['600'] });
      void child.exited.then(() => ended.push(name));
    }
    await supervisor.close();
    expect(ended).toEqual(['third', 'second', 'first']);
    await expect(supervisor.spawnChild({ name: 'late', command: 'sleep', args: ['1'] })).rejects.toThrow(
      'everything is stopping',
    );
  });

  test('that ignore SIGTERM are killed after their grace', async () => {
    await using supervisor = createSupervisor();
    const lines: string[] = [];
    const child = await supervisor.spawnChild({
      name: 'deaf',
      command: 'sh',
      args: ['-c', 'trap "" TERM; echo deaf; while :; do sleep 1; done'],
      onLine: (line) => lines.push(line),
    });
    await waitUntil('the deaf child', deadlineMs, () =>
      lines.includes('deaf') ? Promise.resolve() : Promise.reject(new Error('silent')),
    );
    expect(await child.stop(100)).toEqual({ code: null, signal: 'SIGKILL' });
    expect(child.running()).toBe(false);
  });

  test('whose command does not exist are refused in one line', async () => {
    await using supervisor = createSupervisor();
    await expect(
      supervisor.spawnChild({ name: 'Kafka', command: 'no-such-command', args: [] }),
    ).rejects.toThrow(new StartError('cannot start Kafka: no-such-command: not found'));
  });
});
