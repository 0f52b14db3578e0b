import { describe, expect, it } from 'vitest';
import { mayStillCall, readResubmitGraceMs } from './call-deadlines.ts';

describe('the call of an attempt', () => {
  it.each([
    ['at once', 0, true],
    ['at the last moment', 2_000, true],
    ['after a freeze', 2_001, false],
    ['by a clock that was set back a little', -2_000, true],
    ['by a clock that was set back, which makes an old claim look young', -2_001, false],
  ])('%s (%i ms after its claim) may begin: %s', (_when, lateMs, allowed) => {
    expect(mayStillCall(1_000_000, 1_000_000 + lateMs)).toBe(allowed);
  });
});

describe('RESUBMIT_GRACE_MS', () => {
  const rails = [6_000, 12_000].map((callDeadlineMs) => ({ capabilities: { callDeadlineMs } }));

  it('stops the start where a call could outlast it, in one line that names the remedy', () => {
    expect(() => readResubmitGraceMs({ RESUBMIT_GRACE_MS: 13_999 }, rails)).toThrow(
      /^RESUBMIT_GRACE_MS .*13999.*set it to at least 14000.*$/,
    );
  });
  it('passes where no call can, with a margin', () => {
    expect(readResubmitGraceMs({ RESUBMIT_GRACE_MS: 14_000 }, rails)).toBe(16_000);
  });
});
