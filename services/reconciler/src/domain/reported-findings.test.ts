import { describe, expect, it } from 'vitest';
import { called, ended, fold, lookedUp, opened, poll } from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import { afterManualResolution } from './manual-resolution.ts';
import type { RailAnswer } from './question.ts';
import { awaited, type Tracked } from './tracked.ts';

const NOW_MS = 500_000;
const failed: RailAnswer = { kind: 'failed', reason: 'Declined' };
const back: RailAnswer = { kind: 'reversed', amount: 10_000n, fee: null, reason: null };
const paid = (amount: bigint): RailAnswer => ({ kind: 'completed', amount, fee: 50n, reason: null });
const payout = (status: 'completed' | 'failed' = 'completed') =>
  fold(awaited('po-1', 0), [opened('payout'), ended('payout', status)]);
const claim = (tracked: Tracked, ...claims: readonly Partial<Claim>[]) =>
  fold(
    tracked,
    claims.map((one) => called({ kind: 'payout', ...one })),
  );
/** Asks the rail repeatedly; gives every break that was opened or got another amount, and the payment afterwards. */
function ask(tracked: Tracked, ...answers: readonly RailAnswer[]) {
  const breaks: string[] = [];
  let left = tracked;
  for (const answer of answers) {
    const asked = poll(left, answer, { polledAtMs: 900_000 });
    breaks.push(...asked.breaks);
    left = asked.after;
  }
  return { breaks, left };
}
const resolve = (tracked: Tracked, kind: string) => afterManualResolution(tracked, kind, 'resolve', NOW_MS);

describe('what the lookup says against the end of a payment', () => {
  const KIND = 'payment.contradiction';
  const resolved = () => resolve(ask(payout(), failed).left, KIND);

  it('is reported once while its break is open', () => {
    expect(ask(payout(), failed, failed, lookedUp, failed, { kind: 'unknown' }, failed).breaks).toEqual([
      KIND,
    ]);
  });

  it('is asked for again once a person has resolved it', () => {
    expect(resolved()).toMatchObject({ dueAtMs: NOW_MS, claim: null });
    expect(afterManualResolution(ask(payout(), failed).left, KIND, 'adjust', NOW_MS).dueAtMs).toBeNull();
    expect(poll(resolved(), { kind: 'unknown' }).verdict.undecided).toBe(true);
    for (const answer of [failed, lookedUp, { kind: 'pending' }, { kind: 'notFound' }] as const)
      expect(poll(resolved(), answer)).toMatchObject({ breaks: [], verdict: { undecided: false } });
    const unaskable = poll(resolved(), { kind: 'unaskable', why: 'the rail is not configured here' });
    expect(unaskable).toMatchObject({ breaks: [], verdict: { undecided: false } });
  });

  it('stays resolved as long as the rail says what people knew', () => {
    expect(ask(resolved(), failed, { kind: 'unknown' }, { kind: 'pending' }, failed, failed).breaks).toEqual(
      [],
    );
  });

  it('opens it again where the rail has agreed meanwhile', () => {
    expect(ask(resolved(), lookedUp, failed, failed).breaks).toEqual([KIND]);
    expect(ask(resolved(), failed, lookedUp, failed).breaks).toEqual([KIND]);
    expect(ask(resolved(), { kind: 'unknown' }, lookedUp, lookedUp, failed).breaks).toEqual([KIND]);
  });

  it('opens it again where it is another end', () => {
    const other = resolve(ask(payout('failed'), lookedUp).left, KIND);
    expect(ask(other, lookedUp, back, back).breaks).toEqual([KIND]);
  });

  it('stays as it is where an order has corrected it, or a person opened it again', () => {
    const corrected = afterManualResolution(ask(payout(), failed).left, KIND, 'adjust', NOW_MS);
    expect(ask(corrected, lookedUp, failed).breaks).toEqual([]);
    const reopened = afterManualResolution(resolved(), KIND, 'reopen', NOW_MS);
    expect(ask(reopened, lookedUp, failed)).toMatchObject({
      breaks: [],
      left: { known: [{ since: 'reported' }] },
    });
  });

  it('is known where a proven callback says it, which is never taken back', () => {
    const proven = claim(payout(), { proven: true, status: 'FAILED' });
    const reported = ask(proven, lookedUp);
    expect(reported.breaks).toEqual([KIND]);
    expect(ask(resolve(reported.left, KIND), lookedUp, lookedUp).breaks).toEqual([]);
  });
});

describe('another amount in the lookup', () => {
  const KIND = 'payout.amount_differs';

  it('is reported again if it changes once more, and not if it stays the same', () => {
    expect(ask(payout(), paid(9_000n), paid(9_000n)).breaks).toEqual([KIND]);
    const resolved = resolve(ask(payout(), paid(9_000n)).left, KIND);
    expect(ask(resolved, paid(9_000n), paid(9_000n)).breaks).toEqual([]);
    expect(ask(resolved, paid(8_000n), paid(8_000n)).breaks).toEqual([KIND]);
    expect(ask(resolved, lookedUp, paid(9_000n)).breaks).toEqual([KIND]);
  });

  it('is reported up to the limit if a rail’s answers keep changing', () => {
    const answers = Array.from({ length: 1_000 }, (_, index) => paid(BigInt(index)));
    const { breaks, left } = ask(payout(), ...answers);
    expect([breaks.length, left.known.length]).toEqual([40, 40]);
  });
});

describe('what callbacks claim', () => {
  const forge = (tracked: Tracked, count: number) =>
    claim(
      tracked,
      ...Array.from({ length: count }, (_, index) => ({
        status: ['COMPLETED', 'Failed', 'reversed', 'REVERSED'][index % 4] ?? '',
        amount: String(200 + index),
        fee: String(index),
      })),
    );

  it.each(['callback.denied', 'callback.amount_differs'])('opens %s again where it is another', (kind) => {
    const isDenied = kind === 'callback.denied';
    const claimed = (index: number) =>
      isDenied
        ? { status: ['FAILED', 'REVERSED'][index] ?? '' }
        : { amount: String(200 + index), status: 'COMPLETED' };
    const first = ask(claim(payout(), claimed(0)), lookedUp);
    expect(first.breaks).toEqual([kind]);
    const resolved = resolve(first.left, kind);
    expect(resolved.dueAtMs).toBe(first.left.dueAtMs);
    const repeated = claim(resolved, ...Array.from({ length: 1_000 }, () => claimed(0)));
    expect(ask(repeated, lookedUp, lookedUp).breaks).toEqual([]);
    expect(ask(claim(repeated, claimed(1)), lookedUp, lookedUp).breaks).toEqual([kind]);
  });

  it('is reported at once, all of it: after resolving nothing more of it is reported', () => {
    const { breaks, left } = ask(forge(payout(), 1_000), lookedUp);
    expect(breaks).toEqual(['callback.amount_differs', 'callback.denied']);
    const resolved = breaks.reduce(resolve, left);
    expect(ask(resolved, lookedUp, lookedUp).breaks).toEqual([]);
    expect(ask(forge(resolved, 1_000), lookedUp, lookedUp).breaks).toEqual([]);
  });

  it('opens no more breaks than are kept, though each is resolved at once', () => {
    let tracked = payout();
    let opened = 0;
    for (let count = 1; count <= 40; count += 1) {
      const asked = ask(forge(tracked, count), lookedUp);
      opened += asked.breaks.length;
      tracked = asked.breaks.reduce(resolve, asked.left);
    }
    expect(opened).toBeLessThan(20);
    expect(tracked.known.length).toBeLessThan(20);
  });
});
