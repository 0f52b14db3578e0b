import { describe, expect, it } from 'vitest';
import { numberLimit, UNCOUNTED_FROM } from './limits.ts';

const NOW_MS = Date.UTC(2025, 0, 15, 12, 59, 30, 1);

function limit(max: number, changes: { readonly scope?: string; readonly nowMs?: number } = {}) {
  const made = numberLimit({ scope: 'payin', numberDigest: 'd', max, nowMs: NOW_MS, ...changes });
  if (!made) throw new Error('there is no limit');
  return made;
}

describe('a limit by number', () => {
  it('ends with the hour', () => {
    expect(limit(3)).toMatchObject({
      retryAfterSeconds: 30,
      forgetAtMs: Date.UTC(2025, 0, 15, 14),
    });
    expect(limit(3, { nowMs: NOW_MS + 29_999 }).id).not.toBe(limit(3).id);
    expect(limit(3, { nowMs: NOW_MS + 29_998 }).id).toBe(limit(3).id);
  });

  it('of a million is none', () => {
    expect(numberLimit({ scope: 'payin', numberDigest: 'd', max: UNCOUNTED_FROM, nowMs: 0 })).toBeUndefined();
  });
});
