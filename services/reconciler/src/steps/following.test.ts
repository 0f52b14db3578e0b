import { describe, expect, it } from 'vitest';
import { awaited } from '../domain/tracked.ts';
import { called, ended, fold, opened } from '../fixtures/verdicts.ts';
import { type FollowedStep, findingOf, follow, found, isResolved, lookFromMs, placeOf } from './following.ts';

const limits = { limitMs: 1_000, requestsMax: 3 };
const at = (ms: number) => new Date(ms);
const overdue = { reference: 'po-1', kind: 'payout', step: 'hold' } as const;

/** The step after so many checks, each made as soon as it was due, with the step unfinished each time. */
function afterLooks(looks: number): { readonly step: FollowedStep; readonly news: readonly boolean[] } {
  let step = found(overdue, limits.limitMs, at(0));
  const news: boolean[] = [];
  for (let look = 0; look < looks; look += 1) {
    const next = follow(step, limits, step.dueAt);
    news.push(next.isReported && !step.isReported);
    step = next;
  }
  return { step, news };
}

describe('an overdue step', () => {
  it('is asked for at once, and checked a limit later', () => {
    expect(found(overdue, limits.limitMs, at(5_000))).toEqual({
      ...overdue,
      since: at(5_000),
      requests: 1,
      dueAt: at(6_000),
      isReported: false,
    });
  });

  it('is reported once, after the allowed number of requests, and asked for again and again', () => {
    expect(afterLooks(5)).toMatchObject({
      step: { requests: 6, isReported: true, since: at(0) },
      news: [false, false, true, false, false],
    });
  });

  it('is asked for with pauses that double up to a bound', () => {
    expect(afterLooks(2).step.dueAt).toEqual(at(1_000 + 2_000 + 4_000));
    expect(Number(afterLooks(20).step.dueAt) - Number(afterLooks(19).step.dueAt)).toBe(64_000);
  });

  it('is checked once, if its limit leaves enough time for events that are in time', () => {
    expect(lookFromMs(500_000, 60_000)).toBe(500_000);
    expect(lookFromMs(500_000, 10_000)).toBe(490_000);
  });

  it('is read a second time before anybody is asked, if its record may have changed at that moment', () => {
    const end = found({ ...overdue, step: 'end' }, limits.limitMs, at(0));
    expect(end).toMatchObject({ requests: 0, dueAt: at(1_000) });
    expect(follow(end, limits, at(1_000))).toMatchObject({ isReported: false, requests: 1 });
    const record = found({ ...overdue, step: 'record' }, limits.limitMs, at(0));
    expect(follow(record, limits, at(1_000))).toMatchObject({ isReported: true });
  });

  it('says of a record that is behind how it differs from the payment', () => {
    const { kind, detail } = findingOf({ step: 'record', requests: 1 }, undefined) ?? {};
    expect([kind, detail]).toEqual([
      'coverage.behind',
      'the payment is open here, and its gateway has no record of it',
    ]);
  });

  it('says what is missing, and what was tried', () => {
    const { kind, detail } = findingOf({ step: 'delivery', requests: 4 }, undefined) ?? {};
    expect([kind, detail]).toEqual(['webhook.missing', expect.stringMatching(/no webhook is owed.*4 times/)]);
  });

  it('says of entries how they differ by now, and nothing if they match', () => {
    const entry = { step: 'entry', requests: 4 } as const;
    expect(findingOf(entry, { ...awaited('po-1', 0), posted: true })?.kind).toBe('books.unexplained_entry');
    expect(findingOf(entry, awaited('po-1', 0))).toBeUndefined();
    const unknown = fold(awaited('co-1', 0), [called({ proven: true })]);
    expect(findingOf(entry, unknown)?.kind).toBe('callback.unknown_reference');
    expect(findingOf(entry, fold(unknown, [opened('collection')]))).toBeUndefined();
  });

  it('of an entry is resolved once people have resolved its break, or for good, or it is done', () => {
    const entry = { ...found({ ...overdue, step: 'entry' }, 1_000, at(0)), isReported: true };
    const unposted = fold(awaited('po-1', 0), [opened('payout'), ended('payout', 'completed')]);
    expect(isResolved(entry, { ...unposted, breaks: ['books.unposted'] })).toBe(false);
    const unknown = { ...awaited('po-1', 0), posted: true, breaks: ['books.unexplained_entry'] };
    const over = [unposted, unknown, awaited('po-1', 0)];
    expect(over.map((one) => isResolved(entry, one))).toEqual([true, true, true]);
    expect(isResolved({ ...entry, isReported: false }, unposted)).toBe(false);
  });

  it.each(['hold', 'delivery', 'record'] as const)(
    'of a %s is followed whatever people say of it',
    (step) => {
      const reported = { ...found({ ...overdue, step }, 1_000, at(0)), isReported: true };
      const payment = fold(awaited('po-1', 0), [opened('payout')]);
      expect([payment, undefined].map((one) => isResolved(reported, one))).toEqual([false, false]);
    },
  );

  it('is shown at the rail of a proven callback, whatever rails others name', () => {
    const claims = [called({ rail: 'forged' }), called({ proven: true })];
    expect(placeOf(fold(awaited('po-1', 0), claims))).toEqual({ rail: 'upstream', currency: null });
  });
});
