import { describe, expect, it } from 'vitest';
import { ledgerStanding, waitingText } from './ledger-standing.ts';

const at = (nowMs: number) => ({ nowMs, graceMs: 60_000 });

describe('how the ledger stands (ADR 27)', () => {
  it('is level once it has applied what the topics held a moment ago, however long it was idle', () => {
    expect(ledgerStanding({ atMs: 0, isPast: true }, at(0))).toBe('level');
    expect(ledgerStanding({ atMs: 0, isPast: true }, at(59_999))).toBe('level');
  });

  it('distinguishes missing from late by an old reading too, but does not give the present lag', () => {
    expect(ledgerStanding({ atMs: 0, isPast: true }, at(60_000))).toBe('past');
  });

  it('is waited for within the grace time, and behind after it', () => {
    expect(ledgerStanding({ atMs: 0, isPast: false }, at(59_999))).toBe('waiting');
    expect(ledgerStanding({ atMs: 0, isPast: false }, at(60_000))).toBe('behind');
  });

  it('is reported with each doubling of the waiting payments', () => {
    expect(waitingText(1)).toMatch(/; a payment waits for its entry$/);
    expect(waitingText(0)).toBe(waitingText(1));
    expect(waitingText(2)).toMatch(/at least 2 payments wait/);
    expect(waitingText(1_023)).toBe(waitingText(512));
    expect(waitingText(1_024)).toMatch(/at least 1024 payments/);
  });
});
