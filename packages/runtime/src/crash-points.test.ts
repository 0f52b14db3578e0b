import fs from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createCrashPoints } from './crash-points.ts';

const writeSync = vi.spyOn(fs, 'writeSync').mockReturnValue(0);
syncBuiltinESMExports();
const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
afterEach(() => void vi.clearAllMocks());
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe('an armed crash point', () => {
  it.each([
    ['work.before-call', 1, 'SIGKILL'],
    ['work.before-call:3', 3, 'SIGKILL'],
    ['work.before-call:2:freeze', 2, 'SIGSTOP'],
  ])('%s strikes once, at its pass, and says so first', (armed, strikesAt, signal) => {
    const crashPoint = createCrashPoints(armed);
    for (let pass = 1; pass < strikesAt; pass += 1) crashPoint('work.before-call');
    crashPoint('work.after-call');
    expect(kill).not.toHaveBeenCalled();
    crashPoint('work.before-call');
    crashPoint('work.before-call');
    expect(kill.mock.calls).toEqual([[process.pid, signal]]);
    expect(writeSync.mock.calls).toEqual([[process.stderr.fd, 'crash point work.before-call\n']]);
    expect(writeSync.mock.invocationCallOrder[0]).toBeLessThan(kill.mock.invocationCallOrder[0] ?? 0);
  });
});

it('strikes where a content has the text that it is armed for, whatever was passed before', () => {
  const crashPoint = createCrashPoints('work.before-call:2:freeze:Refunded');
  for (const content of ['Placed', 'Refunded', 'Captured']) crashPoint('work.before-call', () => content);
  crashPoint('work.before-call');
  expect(kill).not.toHaveBeenCalled();
  crashPoint('work.before-call', () => 'Captured and Refunded');
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGSTOP']]);
});

it('is armed by a file while the process runs, which is gone once it has struck', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crash-points-'));
  const file = join(folder.path, 'armed');
  const crashPoint = createCrashPoints(`@${file}`);
  crashPoint('work.before-call');
  for (const round of [1, 2]) {
    fs.writeFileSync(file, 'work.before-call:2');
    crashPoint('work.before-call');
    expect(kill).toHaveBeenCalledTimes(round - 1);
    crashPoint('work.before-call');
    expect(kill).toHaveBeenCalledTimes(round);
    expect(fs.existsSync(file)).toBe(false);
    crashPoint('work.before-call');
  }
  expect(kill).toHaveBeenCalledTimes(2);
});

it('costs nothing where none is armed', () => {
  const content = vi.fn<() => string>(() => '');
  createCrashPoints(undefined)('work.before-call', content);
  createCrashPoints('work.after-call')('work.before-call', content);
  expect(content).not.toHaveBeenCalled();
  expect(kill).not.toHaveBeenCalled();
});
