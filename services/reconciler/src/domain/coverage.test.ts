import { describe, expect, it } from 'vitest';
import { called, fold, opened, terms, timing } from '../fixtures/verdicts.ts';
import { autoResolutionsOf } from './auto-resolution.ts';
import { type Gap, gapBetween, gapFinding, type OwnerRecord } from './coverage.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const record = (status: OwnerRecord['status']): OwnerRecord => ({
  reference: 'po-1',
  status,
  terms: terms('payout'),
  acceptedAt: new Date(500),
  takenOnAtMs: null,
  awaitsHold: false,
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
const audited = (of: OwnerRecord): PaymentObservation => ({
  kind: 'audited',
  name: 'the record of its gateway',
  record: of,
});
const open = fold(awaited('po-1', 0), [opened('payout')]);
const closed = fold(open, [ended()]);
/** The working set's payment after it is taken from a record, with its break. */
const audit = (before: Tracked, of: OwnerRecord): Tracked => {
  if (apply(before, audited(of), timing) === before) return before;
  const after = fold(before, [audited(of)]);
  const finding = gapFinding(before, of);
  return finding === undefined ? after : { ...after, breaks: [...after.breaks, finding.kind] };
};

describe('a gap between the working set and a record', () => {
  it.each<[string, Tracked | undefined, OwnerRecord | null, Gap | undefined]>([
    ['open on both sides', open, record('open'), undefined],
    ['ended on both sides', closed, record('completed'), undefined],
    ['not here', undefined, record('open'), 'opening'],
    ['here without its terms', awaited('po-1', 0), record('open'), 'opening'],
    ['neither here nor open there', undefined, record('completed'), undefined],
    ['open here, ended there', open, record('failed'), 'end'],
    ['ended here, open there', closed, record('open'), 'record'],
    ['open here, unknown there', open, null, 'record'],
    ['ended here, unknown there', closed, null, undefined],
  ])('%s', (_name, ours, of, gap) => {
    expect(gapBetween(ours, of ?? undefined)).toBe(gap);
  });

  it('brings nothing that is here by now: its event was under way', () => {
    expect(audit(open, record('open'))).toBe(open);
    expect(audit(closed, record('open'))).toBe(closed);
    expect(audit(closed, record('completed'))).toBe(closed);
    expect(audit(awaited('po-1', 0), record('completed')).status).toBe('awaited');
  });
});

describe('a payment that the audit missed', () => {
  const taken = audit(awaited('po-1', 7_000), record('open'));

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
    expect(audit(heard, record('open'))).toMatchObject({
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
  const taken = audit(stuck, record('completed'));

  it('is taken over, with the breaks that an end closes, and its entries are waited for', () => {
    expect(taken).toMatchObject({
      status: 'completed',
      version: 1n,
      dueAtMs: null,
      endedAtMs: timing.nowMs,
      booksDueAtMs: timing.nowMs + timing.booksGraceMs,
      breaks: ['coverage.ended'],
    });
    const observation = audited(record('completed'));
    const over = apply(stuck, observation, timing);
    expect(autoResolutionsOf(stuck, over, observation)).toMatchObject([{ kind: 'payment.stuck' }]);
  });

  it('closes the break over its opening, whose event opens nothing again', () => {
    const missed = audit(awaited('po-1', 0), record('open'));
    const over = audit(missed, record('failed'));
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
  const taken = audit(open, record('reversed'));

  it('is not set back by the completion that comes late, and its own event closes the break', () => {
    const late = fold(taken, [ended()]);
    expect(late).toMatchObject({ status: 'reversed', version: 5n, endedAtMs: taken.endedAtMs });
    expect(late.breaks).toEqual(['coverage.ended']);
    expect(fold(late, [ended('reversed')])).toMatchObject({ status: 'reversed', version: 6n, breaks: [] });
  });
});
