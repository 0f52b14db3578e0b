import { describe, expect, it } from 'vitest';
import { checked, collection, poll, settings } from '../fixtures/verdicts.ts';
import { type ArrivedTime, arrivedBy, waitedMs } from './arrived.ts';
import { judge } from './verdict.ts';

const MINUTE_MS = 60_000;

describe('the time in which what is sent arrives', () => {
  it('goes on from look to look, and begins anew after a gap', () => {
    const first = arrivedBy(undefined, 5_000, MINUTE_MS);
    expect(first).toEqual({ sinceMs: 5_000, untilMs: 5_000 });
    const next = arrivedBy(first, 65_000, MINUTE_MS);
    expect(next).toEqual({ sinceMs: 5_000, untilMs: 65_000 });
    expect(arrivedBy(next, 125_001, MINUTE_MS)).toEqual({ sinceMs: 125_001, untilMs: 125_001 });
  });

  it('is all that counts of a wait', () => {
    const waited = (sinceMs: number, askedAtMs: number) =>
      waitedMs({ askedAtMs, arrived: { sinceMs: 100, untilMs: 200 } }, sinceMs);
    expect([waited(0, 300), waited(150, 300), waited(150, 180), waited(250, 300)]).toEqual([100, 50, 30, 0]);
    expect(waitedMs({ askedAtMs: 300, arrived: null }, 0)).toBe(0);
  });
});

describe('a payment after Kafka was away for twenty minutes', () => {
  const backMs = 20 * MINUTE_MS;
  const ask = (open: ReturnType<typeof collection>, arrived: ArrivedTime | null, askedAtMs: number) => {
    if (!open.terms) throw new Error('the payment has no terms');
    const answer = open.endReported === null ? ({ kind: 'notFound' } as const) : checked;
    const asked = { terms: open.terms, source: 'poll', answer, isScheduled: true } as const;
    const verdict = judge({ ...settings, ...asked, tracked: open, arrived, askedAtMs });
    return verdict.findings.map(({ kind }) => kind);
  };
  const endReported = poll(collection()).after;
  const collected = collection();
  const unsent = {
    ...collected,
    version: 1n,
    terms: collected.terms && { ...collected.terms, kind: 'payout' as const },
  };

  it.each([
    ['whose end was reported', endReported, 'payment.end_untaken'],
    ['that was accepted', unsent, 'payout.unattempted'],
  ])('%s is judged by the time since then alone', (_name, payment, kind) => {
    expect(ask(payment, null, backMs)).toEqual([]);
    const since = { sinceMs: backMs, untilMs: 2 * backMs };
    expect(ask(payment, since, backMs + 15 * MINUTE_MS - 1)).toEqual([]);
    expect(ask(payment, since, backMs + 15 * MINUTE_MS)).toEqual([kind]);
  });

  it('is not judged by what was sent after all that has arrived', () => {
    expect(ask(endReported, { sinceMs: 0, untilMs: 15 * MINUTE_MS }, backMs)).toEqual([]);
    expect(ask(endReported, { sinceMs: 0, untilMs: backMs }, backMs)).toEqual(['payment.end_untaken']);
  });
});
