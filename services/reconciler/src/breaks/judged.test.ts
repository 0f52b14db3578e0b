import { describe, expect, it } from 'vitest';
import { type BreakKind, breakKinds } from '../domain/break-kinds.ts';
import { changeBreak } from '../domain/break-life.ts';
import type { Claim } from '../domain/claim.ts';
import type { RailAnswer } from '../domain/judging.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import { breakId } from '../domain/observing.ts';
import { awaited } from '../domain/tracked.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { called, checked, ended, fold, lookedUp, opened, poll, terms } from '../fixtures/verdicts.ts';
import { reportsOfVerdict } from './reports.ts';

const NOW_MS = 500_000;
const failed: RailAnswer = { kind: 'failed', reason: 'Declined' };
const back: RailAnswer = { kind: 'reversed', amount: 10_000n, fee: null, reason: null };
const paid = (amount: bigint): RailAnswer => ({ kind: 'completed', amount, fee: 50n, reason: null });

/** An ended payout with its breaks: what rails answer, callbacks claim and people resolve. */
function payout(status: 'completed' | 'failed' = 'completed') {
  const { kept, tell, emitted } = breaksInMemory();
  let tracked = fold(awaited('po-1', 0), [opened('payout'), ended('payout', status)]);
  const show = (kind: BreakKind) => kept.get(breakId('po-1', breakKinds[kind].field));
  const all = {
    tracked: () => tracked,
    show,
    /** Asks the rail repeatedly; gives the kinds with which a break opened. */
    ask: async (...answers: readonly RailAnswer[]): Promise<readonly string[]> => {
      const before = emitted.length;
      for (const answer of answers) {
        const { verdict, after } = poll(tracked, answer, { askedAtMs: 900_000 });
        tracked = await tell(reportsOfVerdict(after, terms('payout'), verdict, new Date(NOW_MS)), after);
      }
      return emitted
        .slice(before)
        .filter(({ type }) => type.endsWith('BreakOpened'))
        .map(({ payload }) => String((payload as { kind?: unknown }).kind));
    },
    claim: (...claims: readonly Partial<Claim>[]) => {
      tracked = fold(
        tracked,
        claims.map((one) => called({ kind: 'payout', ...one })),
      );
    },
    does: (kind: BreakKind, what: 'resolve' | 'reopen') => {
      const current = show(kind);
      if (!current) throw new Error(`${kind} has no break`);
      const changed = changeBreak(
        current,
        { what, text: 'known' },
        { by: 'ama', at: new Date(NOW_MS), hasEnded: true },
      );
      if (!changed.ok) throw new Error(changed.refusal);
      kept.set(current._id, changed.value);
      tracked = afterManualResolution(tracked, current, changed.value, {
        by: 'person',
        at: new Date(NOW_MS),
      });
    },
  };
  return all;
}

describe('what the lookup says against the end of a payment', () => {
  const KIND = 'payment.contradiction';
  const resolved = async () => {
    const one = payout();
    await one.ask(failed);
    one.does(KIND, 'resolve');
    return one;
  };

  it('is reported once while the rail says it', async () => {
    expect(await payout().ask(failed, failed, { kind: 'unknown' }, { kind: 'pending' }, failed)).toEqual([
      KIND,
    ]);
  });

  it('has the sign of what a close finds: theirs without ours', async () => {
    for (const [status, answer, amount] of [
      ['completed', failed, -10_000n],
      ['failed', paid(10_000n), 10_000n],
      ['failed', paid(9_000n), 9_000n],
    ] as const) {
      const one = payout(status);
      await one.ask(answer);
      expect(one.show(KIND)).toMatchObject({ amount });
    }
  });

  it('is taken back by the lookup alone, and what a proven callback said stands', async () => {
    const one = payout();
    one.claim({ status: 'FAILED', proven: true });
    await one.ask(failed);
    await one.ask(lookedUp);
    expect(one.show(KIND)).toMatchObject({
      status: 'open',
      observations: [{ observer: 'provenCallback', amount: -10_000n }],
    });
  });

  it('closes when the rail says what we have', async () => {
    const one = payout();
    await one.ask(failed, lookedUp);
    expect(one.show(KIND)).toMatchObject({
      status: 'resolved',
      resolution: "the rail's lookup says what we have",
    });
    expect(one.tracked().breaks).toEqual([]);
  });

  it('is asked for again once a person has resolved it', async () => {
    const one = await resolved();
    expect(one.tracked()).toMatchObject({ dueAtMs: NOW_MS, claim: null });
    expect(poll(one.tracked(), { kind: 'unknown' }).verdict.undecided).toBe(true);
    for (const answer of [failed, lookedUp, { kind: 'pending' }, { kind: 'notFound' }] as const)
      expect(poll(one.tracked(), answer).verdict.undecided).toBe(false);
    const unaskable = poll(one.tracked(), { kind: 'unaskable', why: 'the rail is not configured here' });
    expect(unaskable).toMatchObject({ breaks: [], verdict: { undecided: false } });
  });

  it('stays resolved as long as the rail says what people knew', async () => {
    const one = await resolved();
    expect(await one.ask(failed, { kind: 'unknown' }, { kind: 'pending' }, failed, failed)).toEqual([]);
  });

  it('opens it again where the rail has agreed meanwhile', async () => {
    expect(await (await resolved()).ask(lookedUp, failed, failed)).toEqual([KIND]);
    expect(await (await resolved()).ask(failed, lookedUp, failed)).toEqual([KIND]);
    expect(await (await resolved()).ask({ kind: 'unknown' }, lookedUp, lookedUp, failed)).toEqual([KIND]);
  });

  it('opens it again where it is another end', async () => {
    const one = payout('failed');
    await one.ask(lookedUp);
    one.does(KIND, 'resolve');
    expect(await one.ask(lookedUp, back, back)).toEqual([KIND]);
  });

  it('stands again where a person opened it again', async () => {
    const one = await resolved();
    one.does(KIND, 'reopen');
    expect(await one.ask(failed)).toEqual([]);
    expect(one.show(KIND)).toMatchObject({ status: 'open' });
  });

  it('is known where a proven callback says it, which is never taken back', async () => {
    const one = payout();
    one.claim({ proven: true, status: 'FAILED' });
    expect(await one.ask(lookedUp)).toEqual([KIND]);
    one.does(KIND, 'resolve');
    expect(await one.ask(lookedUp, lookedUp)).toEqual([]);
  });
});

describe('another amount in the lookup', () => {
  const KIND = 'payout.amount_differs';
  const resolved = async () => {
    const one = payout();
    expect(await one.ask(paid(9_000n), paid(9_000n))).toEqual([KIND]);
    one.does(KIND, 'resolve');
    return one;
  };

  it('is reported again if it changes once more, and not if it stays the same', async () => {
    expect(await (await resolved()).ask(paid(9_000n), paid(9_000n))).toEqual([]);
    expect(await (await resolved()).ask(paid(8_000n), paid(8_000n))).toEqual([KIND]);
    expect(await (await resolved()).ask(lookedUp, paid(9_000n))).toEqual([KIND]);
  });

  it('is taken back by a lookup with the amount, and by none without any', async () => {
    const one = payout();
    await one.ask(paid(9_000n), checked);
    expect(one.show(KIND)?.status).toBe('open');
    await one.ask(lookedUp);
    expect(one.show(KIND)?.status).toBe('resolved');
  });

  it('is one break of bounded size if a rail’s answers keep changing', async () => {
    const one = payout();
    expect(await one.ask(...Array.from({ length: 1_000 }, (_, index) => paid(BigInt(index))))).toEqual([
      KIND,
    ]);
    expect(one.show(KIND)?.history).toHaveLength(150);
    expect(one.show(KIND)?.observations).toMatchObject([{ about: ['999'] }]);
  });
});

describe('what callbacks claim', () => {
  const forge = (one: ReturnType<typeof payout>, count: number) =>
    one.claim(
      ...Array.from({ length: count }, (_, index) => ({
        status: ['COMPLETED', 'Failed', 'reversed', 'REVERSED'][index % 4] ?? '',
        amount: String(200 + index),
        fee: String(index),
      })),
    );

  it.each(['callback.denied', 'callback.amount_differs'] as const)(
    'opens %s again where it is another',
    async (kind) => {
      const isDenied = kind === 'callback.denied';
      const claimed = (index: number) =>
        isDenied
          ? { status: ['FAILED', 'REVERSED'][index] ?? '' }
          : { amount: String(200 + index), status: 'COMPLETED' };
      const one = payout();
      one.claim(claimed(0));
      expect(await one.ask(lookedUp)).toEqual([kind]);
      const due = one.tracked().dueAtMs;
      one.does(kind, 'resolve');
      expect(one.tracked().dueAtMs).toBe(due);
      one.claim(...Array.from({ length: 1_000 }, () => claimed(0)));
      expect(await one.ask(lookedUp, lookedUp)).toEqual([]);
      one.claim(claimed(1));
      expect(await one.ask(lookedUp, lookedUp)).toEqual([kind]);
    },
  );

  it('is reported at once, all of it: after resolving nothing more of it is reported', async () => {
    const one = payout();
    forge(one, 1_000);
    expect((await one.ask(lookedUp)).toSorted()).toEqual(['callback.amount_differs', 'callback.denied']);
    one.does('callback.amount_differs', 'resolve');
    one.does('callback.denied', 'resolve');
    expect(await one.ask(lookedUp, lookedUp)).toEqual([]);
    forge(one, 1_000);
    expect(await one.ask(lookedUp, lookedUp)).toEqual([]);
  });

  it('opens no more breaks than are kept, though each is resolved at once', async () => {
    const one = payout();
    let openings = 0;
    for (let count = 1; count <= 40; count += 1) {
      forge(one, count);
      const kinds = (await one.ask(lookedUp)) as readonly BreakKind[];
      openings += kinds.length;
      for (const kind of kinds) one.does(kind, 'resolve');
    }
    expect(openings).toBeLessThan(25);
    expect(one.show('callback.denied')?.judged?.length).toBeLessThan(20);
  });
});
