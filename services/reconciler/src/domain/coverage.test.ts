import { describe, expect, it } from 'vitest';
import { called, fold, opened, terms, timing } from '../fixtures/verdicts.ts';
import { autoResolutionsOf } from './auto-resolution.ts';
import { type Gap, gapBetween, gapFinding, isStillNews, type OwnerRecord } from './coverage.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const record = (status: OwnerRecord['status']): OwnerRecord => ({
  reference: 'po-1',
  status,
  terms: terms('payout'),
  acceptedAtMs: 500,
  takenOnAtMs: null,
});
const ended = (status: 'completed' | 'reversed' = 'completed'): PaymentObservation => ({
  kind: 'ended',
  name: 'PayoutEnded',
  version: status === 'reversed' ? 6n : 5n,
  atMs: 2_000,
  status,
  terms: terms('payout'),
});
const asked: PaymentObservation = {
  kind: 'asked',
  name: 'PayoutSubmitted',
  version: 4n,
  atMs: 1_500,
  answer: null,
};
const audited = (of: OwnerRecord | null, gap: Gap | undefined): PaymentObservation => ({
  kind: 'audited',
  name: 'the record of its gateway',
  record: of,
  gap,
});
const open = fold(awaited('po-1', 0), [opened('payout')]);
const closed = fold(open, [ended()]);
/** The working set's payment after an audit, with its break. */
const audit = (before: Tracked, of: OwnerRecord | null, gap: Gap | undefined): Tracked => {
  if (apply(before, audited(of, gap), timing) === before) return before;
  const after = fold(before, [audited(of, gap)]);
  const finding = gapFinding(before, of);
  return finding === undefined ? after : { ...after, breaks: [...after.breaks, finding.kind] };
};

describe('a gap between the working set and a record', () => {
  it.each<[string, Tracked | undefined, OwnerRecord | null, Gap | undefined]>([
    ['open on both sides', open, record('open'), undefined],
    ['ended on both sides', closed, record('completed'), undefined],
    ['not here', undefined, record('open'), 'coverage.missing'],
    ['here without its terms', awaited('po-1', 0), record('open'), 'coverage.missing'],
    ['neither here nor open there', undefined, record('completed'), undefined],
    ['open here, ended there', open, record('failed'), 'coverage.ended'],
    ['ended here, open there', closed, record('open'), 'coverage.behind'],
    ['open here, unknown there', open, null, 'coverage.behind'],
    ['ended here, unknown there', closed, null, undefined],
  ])('%s', (_name, ours, of, gap) => {
    expect(gapBetween(ours, of)).toBe(gap);
  });

  it('is none that has become another one since the first look: its event was under way', () => {
    expect(isStillNews(open, record('completed'), 'coverage.missing')).toBe(false);
    expect(isStillNews(closed, record('open'), 'coverage.missing')).toBe(false);
    expect(audit(open, record('completed'), 'coverage.missing')).toBe(open);
    expect(isStillNews(open, record('completed'), 'coverage.ended')).toBe(true);
  });
});

describe('a payment that the audit missed', () => {
  const taken = audit(awaited('po-1', 7_000), record('open'), 'coverage.missing');

  it('is taken in with its terms, and polled at once', () => {
    expect(taken).toMatchObject({
      terms: terms('payout'),
      status: 'open',
      version: 0n,
      openedAtMs: 500,
      breaks: ['coverage.missing'],
    });
    expect(taken.dueAtMs).toBeLessThanOrEqual(500 + timing.firstPollAfterMs);
  });

  it('keeps what was heard of it before', () => {
    const heard = fold(awaited('po-1', 0), [called({ kind: 'payout' }), asked]);
    expect(audit(heard, record('open'), 'coverage.missing')).toMatchObject({
      status: 'open',
      version: 4n,
      callbacks: [{ status: 'COMPLETED' }],
    });
  });

  it('has its break closed by its own event, however late, or by its end', () => {
    const late = { ...taken, version: 4n };
    for (const [before, event, status] of [
      [taken, opened('payout'), 'open'],
      [late, opened('payout'), 'open'],
      [taken, ended(), 'completed'],
    ] as const) {
      const after = apply(before, event, timing);
      expect(autoResolutionsOf(before, after, event)).toMatchObject([{ kind: 'coverage.missing' }]);
      expect(fold(before, [event])).toMatchObject({ status, breaks: [] });
    }
  });

  it('is not opened again by that event once it has ended', () => {
    const over = fold(taken, [ended()]);
    expect(fold({ ...over, version: 0n }, [opened('payout')])).toMatchObject({ status: 'completed' });
  });
});

describe('an end that the audit missed', () => {
  const stuck = { ...open, breaks: ['payment.stuck'] };
  const taken = audit(stuck, record('completed'), 'coverage.ended');

  it('is taken over, with the breaks that an end closes, and its entries are waited for', () => {
    expect(taken).toMatchObject({
      status: 'completed',
      version: 1n,
      dueAtMs: null,
      endedAtMs: timing.nowMs,
      booksDueAtMs: timing.nowMs + timing.booksGraceMs,
      breaks: ['coverage.ended'],
    });
    const observation = audited(record('completed'), 'coverage.ended');
    const over = apply(stuck, observation, timing);
    expect(autoResolutionsOf(stuck, over, observation)).toMatchObject([{ kind: 'payment.stuck' }]);
  });

  it('closes the break over its opening, whose event opens nothing again', () => {
    const missed = audit(awaited('po-1', 0), record('open'), 'coverage.missing');
    const over = audit(missed, record('failed'), 'coverage.ended');
    expect(over).toMatchObject({ status: 'failed', version: 0n, breaks: ['coverage.ended'] });
    expect(fold(over, [opened('payout')])).toMatchObject({ status: 'failed', version: 1n });
  });

  it('stays with people until the event of that very end comes', () => {
    expect(fold(taken, [ended('reversed')])).toMatchObject({ status: 'reversed' });
    expect(fold(taken, [ended('reversed')]).breaks).toContain('coverage.ended');
    const after = fold(taken, [ended()]);
    expect(after).toMatchObject({ version: 5n, endedAtMs: 2_000 });
    expect(after.breaks).not.toContain('coverage.ended');
  });
});

describe('a reversal that the audit took over', () => {
  const taken = audit(open, record('reversed'), 'coverage.ended');

  it('is not set back by the completion that comes late, and its own event closes the break', () => {
    const late = fold(taken, [ended()]);
    expect(late).toMatchObject({ status: 'reversed', version: 5n, endedAtMs: taken.endedAtMs });
    expect(late.breaks).toEqual(['coverage.ended']);
    expect(fold(late, [ended('reversed')])).toMatchObject({ status: 'reversed', version: 6n, breaks: [] });
  });
});

describe('a record that is behind its own events', () => {
  it.each<[string, Tracked, OwnerRecord | null]>([
    ['lost', open, null],
    ['open again', closed, record('open')],
  ])('is reported once and changes nothing: %s', (_name, ours, of) => {
    const withBreak = audit(ours, of, 'coverage.behind');
    expect(withBreak).toEqual({ ...ours, breaks: ['coverage.behind'], timeline: withBreak.timeline });
    expect(audit(withBreak, of, 'coverage.behind')).toBe(withBreak);
    expect(audit(withBreak, of, undefined)).toBe(withBreak);
  });

  it('is level again by a later audit', () => {
    const withBreak = audit(closed, record('open'), 'coverage.behind');
    expect(audit(withBreak, record('completed'), undefined).breaks).toEqual([]);
  });
});
