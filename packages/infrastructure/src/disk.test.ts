import { describe, expect, test } from 'vitest';
import { diskShortage } from './disk.ts';

describe('disk', () => {
  test('room enough is no shortage', () => {
    expect(diskShortage('/data', 500 * 1024 * 1024, 500 * 1024 * 1024)).toBeUndefined();
  });

  test('a shortage is one line with both sizes and what to do', () => {
    const line = diskShortage('/data', 12.9 * 1024 * 1024, 500 * 1024 * 1024);
    expect(line).toBe('only 12 MB free at /data, 500 MB needed: free some disk space and start again');
  });
});
