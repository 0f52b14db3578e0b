import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Break, type FoundBreak, statusOf } from './break.ts';
import { type BreakKind, breakKinds, type Field, type Observer } from './break-kinds.ts';
import { changeBreak, correct } from './break-life.ts';
import type { Finding } from './judging.ts';
import { isOverMoney, observe, toFoundBreak, toWithdrawal, withdraw } from './observing.ts';

const at = new Date(0);
const KES = { currency: 'KES' };

function found(kind: BreakKind, given: Partial<Finding> = {}): FoundBreak {
  return toFoundBreak('po-1', { kind, amount: -100n, detail: `found by ${kind}`, ...given }, KES, at);
}
const differs = (who: 'close' | 'statement', field: Field, amount: bigint | null = -100n) =>
  found(`${who}.differs`, { field, amount });
const gone = (kind: BreakKind, given: { field?: Field; observer?: Observer } = {}) => ({
  ...toWithdrawal('po-1', { kind, ...given, resolution: 'it agrees' }, at),
  ...given,
});
const after = (...all: readonly FoundBreak[]) =>
  all.reduce<Break | undefined>((current, one) => observe(one, current), undefined) as Break;

/** One finding of every kind that concerns a field of a payment as its rail reports it. */
const ofField = {
  status: [
    found('payment.contradiction'),
    found('callback.denied'),
    found('close.not_at_rail'),
    found('statement.not_on_statement'),
    differs('close', 'status'),
    differs('statement', 'status'),
  ],
  amount: [
    found('payout.amount_differs'),
    found('collection.amount_differs'),
    found('callback.amount_differs'),
    differs('close', 'amount'),
    differs('statement', 'amount'),
  ],
  fee: [found('callback.fee_differs'), differs('close', 'fee'), differs('statement', 'fee')],
} as const;
const pairs = Object.entries(ofField).flatMap(([field, findings]) =>
  findings.flatMap((one) =>
    findings.filter((other) => other !== one).map((other) => [field, one, other] as const),
  ),
);

describe('the kinds of breaks', () => {
  it.each([
    ['payment.contradiction', 'status', 'poll'],
    ['callback.denied', 'status', 'callback'],
    ['callback.unknown_reference', 'existence', 'callback'],
    ['statement.not_in_books', 'existence', 'statement'],
    ['books.unposted', 'entry', 'books'],
    ['wallet.drift', 'balance', 'audit'],
  ] as const)('each say which field they are about, and who says it: %s', (kind, field, observer) => {
    expect(found(kind)).toMatchObject({ field, observer });
    expect(after(found(kind))._id).toBe(`po-1/${field}`);
  });
});

describe('one discrepancy', () => {
  it.each(pairs)('of the %s is one break, whichever finds it first: %o, %o', (field, one, other) => {
    const both = after(one, other);
    expect(both).toMatchObject({ _id: `po-1/${field}`, status: 'open' });
    expect(both.history.filter(({ what }) => what === 'opened')).toHaveLength(1);
    expect(observe(other, both)).toBe(both);
  });

  it('of a field is not that of another field, or of another payment', () => {
    const ids = [...Object.values(ofField).flat(), { ...differs('close', 'fee'), reference: 'po-1/fee' }];
    expect(new Set(ids.map((one) => after(one)._id))).toEqual(
      new Set(['po-1/status', 'po-1/amount', 'po-1/fee', 'po-1/fee/fee']),
    );
  });

  it('holds what each observer says, and the newest of it', () => {
    const all = after(
      differs('close', 'fee'),
      differs('statement', 'fee', -1n),
      differs('close', 'fee', -2n),
    );
    expect(all.observations).toMatchObject([
      { observer: 'close', amount: -2n },
      { observer: 'statement', amount: -1n },
    ]);
    expect(all).toMatchObject({ kind: 'close.differs', amount: -2n, version: 3 });
  });

  it('is shown as the rail has it, not as anybody may have claimed it, whichever came first', () => {
    const claimed = after(found('callback.denied'));
    expect(claimed.kind).toBe('callback.denied');
    expect(after(found('callback.denied'), found('payment.contradiction')).kind).toBe(
      'payment.contradiction',
    );
    expect(after(found('payment.contradiction'), found('callback.denied')).kind).toBe(
      'payment.contradiction',
    );
  });

  it('is shown as one of the rail even where only a claim waits for people to decide, and over money first', () => {
    const claimed = found('collection.amount_differs', { observer: 'callback' });
    expect(after(claimed, differs('close', 'amount')).kind).toBe('close.differs');
    expect(after(found('payment.stuck'), found('payment.contradiction')).kind).toBe('payment.contradiction');
  });

  it('is paged by the kinds of the alert', async () => {
    const rules = await readFile(
      new URL('../../../../deploy/monitoring/reconciler.rules.yaml', import.meta.url),
      'utf8',
    );
    const [, pattern = ''] = /alert: BreakOverMoney\n\s+expr: .*kind=~"([^"]+)"/.exec(rules) ?? [];
    const paged = new RegExp(`^(${pattern})$`);
    const kinds = Object.keys(breakKinds);
    expect(kinds.filter(isOverMoney)).toEqual(kinds.filter((kind) => paged.test(kind)));
    expect(kinds.filter(isOverMoney)).toContain('payout.amount_differs');
  });

  it('is explained in the README, of whatever kind it is', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const explained = [...readme.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \|.*\| (\w+) \|$/gm)];
    const kinds = Object.entries(breakKinds).map(([kind, terms]) => [kind, terms.manualResolution]);
    expect(explained.map(([, kind, byHand]) => [kind, byHand])).toEqual(kinds);
  });

  it('is shown at the rail and in the currency of whom it is shown by', () => {
    const unknown = {
      ...found('callback.unknown_reference', { amount: null }),
      rail: 'other',
      currency: null,
    };
    const line = { ...found('statement.not_in_books'), rail: 'upstream' };
    const both = after(unknown, line);
    expect(both).toMatchObject({ kind: 'statement.not_in_books', rail: 'upstream', currency: 'KES' });
    expect(withdraw(gone('statement.not_in_books'), both)).toMatchObject({ rail: 'other', currency: null });
    const books = after(line, found('coverage.missing'));
    expect(books.kind).toBe('coverage.missing');
    expect(books).not.toHaveProperty('rail');
    expect(observe({ ...line, currency: 'GHS' }, both)).toMatchObject({ currency: 'GHS' });
  });

  it('is not explained any more once something else is found of it, and stays so while the same is', () => {
    const explain = { what: 'explain', text: 'a fee of theirs' } as const;
    const explained = changeBreak(after(differs('close', 'fee')), explain, { by: 'ama', at, hasEnded: true });
    if (!explained.ok) throw new Error(explained.refusal);
    const other = observe(differs('close', 'fee', -7n), explained.value);
    expect(statusOf(other)).toBe('explained');
    const joined = observe(differs('statement', 'fee'), explained.value);
    expect(statusOf(joined)).toBe('open');
    expect(joined).not.toHaveProperty('explanation');
    expect(joined.history.at(-1)).toMatchObject({
      what: 'found again',
      text: 'statement.differs: found by statement.differs',
    });
  });

  it('of an open payment has the amount of what a proven callback said once the payment has ended', () => {
    const said = { observer: 'provenCallback', about: ['failed'] } as const;
    const open = after(found('payment.contradiction', { ...said, amount: null }));
    const ended = observe(found('payment.contradiction', { ...said, amount: -100n }), open);
    expect(ended).toMatchObject({ amount: -100n });
    expect(observe(found('payment.contradiction', { ...said, amount: 0n }), ended)).toBe(ended);
  });

  it('stands while one observer still says so, and closes when none does', () => {
    const both = after(differs('close', 'fee'), differs('statement', 'fee'));
    const one = withdraw(gone('close.differs', { field: 'fee' }), both);
    expect(one).toMatchObject({ status: 'open', kind: 'statement.differs' });
    expect(one.history.at(-1)).toMatchObject({ what: 'found no more', by: null });
    expect(withdraw(gone('close.differs', { field: 'fee' }), one)).toBe(one);
    const none = withdraw(gone('statement.differs', { field: 'fee' }), one);
    expect(none).toMatchObject({ status: 'resolved', resolution: 'it agrees' });
    expect(none).not.toHaveProperty('resolvedBy');
    expect(observe(differs('close', 'fee'), none)).toMatchObject({ status: 'open', kind: 'close.differs' });
  });

  it('of which an observer says two things stands until both are over', () => {
    const both = after(found('payment.contradiction'), found('payment.stuck'));
    const one = withdraw(gone('payment.stuck'), both);
    expect(one).toMatchObject({ status: 'open', observations: [{ kind: 'payment.contradiction' }] });
    expect(withdraw(gone('payment.contradiction'), one)).toMatchObject({ status: 'resolved' });
  });
});

describe('what people have resolved', () => {
  const ended = { by: 'ama', at, hasEnded: true };
  const resolve = (current: Break) => {
    const changed = changeBreak(current, { what: 'resolve', text: 'known' }, ended);
    if (!changed.ok) throw new Error(changed.refusal);
    return changed.value;
  };
  const contradiction = (about: string) => found('payment.contradiction', { about: [about] });

  it('stays so while the same is said, by another end it opens again', () => {
    const resolved = resolve(after(contradiction('failed')));
    expect(observe(contradiction('failed'), resolved)).toBe(resolved);
    expect(observe(contradiction('reversed'), resolved)).toMatchObject({ status: 'open' });
  });

  it('is news again once the observer has said what we have, but not by another observer', () => {
    const resolved = resolve(after(contradiction('failed')));
    const agreed = withdraw(gone('payment.contradiction', { observer: 'poll' }), resolved);
    expect(agreed.status).toBe('resolved');
    expect(observe(contradiction('failed'), agreed)).toMatchObject({ status: 'open' });
    const other = withdraw(gone('payment.contradiction', { observer: 'provenCallback' }), resolved);
    expect(observe(contradiction('failed'), other)).toBe(other);
  });

  it('opens again with the next run that finds it, where the kind is one of runs', () => {
    for (const [kind, { manualResolution }] of Object.entries(breakKinds) as [
      BreakKind,
      { manualResolution: string },
    ][]) {
      const again = observe(found(kind), resolve(after(found(kind))));
      const isFoundAgain = ['again', 'decided'].includes(manualResolution);
      expect([kind, again.status]).toEqual([kind, isFoundAgain ? 'open' : 'resolved']);
    }
  });

  it('stays so beside what is found anew: that is a break of its own then', () => {
    const denied = found('callback.denied', { about: ['failed'] });
    const opened = observe(contradiction('failed'), resolve(after(denied)));
    expect(opened).toMatchObject({ status: 'open', kind: 'payment.contradiction' });
    expect(observe(denied, opened)).toBe(opened);
  });

  it('is shown to people again as it was once one of them opens it again', () => {
    const resolved = resolve(after(contradiction('failed')));
    const reopened = changeBreak(resolved, { what: 'reopen', text: 'it is not' }, ended);
    expect(reopened.ok && reopened.value).toMatchObject({ status: 'open', kind: 'payment.contradiction' });
    expect(reopened.ok && observe(contradiction('failed'), reopened.value)).toBe(
      reopened.ok && reopened.value,
    );
  });
});

describe('what callbacks claim', () => {
  const claims = (about: string) => found('callback.denied', { about: [about], detail: `claims ${about}` });

  it('is news once each, however they take turns', () => {
    const both = after(claims('failed'), claims('reversed'));
    expect(both.observations).toMatchObject([{ about: ['failed', 'reversed'] }]);
    expect([claims('failed'), claims('reversed')].map((one) => observe(one, both))).toEqual([both, both]);
  });

  it('is said since its first word as long as the amount stays the same, so that orders proposed then correct it', () => {
    const later = new Date(at.getTime() + 60_000);
    const claim = (about: string, amount: bigint, when: Date) => ({
      ...found('callback.amount_differs', { observer: 'callback', about: [about], amount }),
      at: when,
    });
    const first = after(claim('one', -100n, at));
    const again = observe(claim('two', -100n, later), first);
    expect(again.observations).toMatchObject([{ at, about: ['one', 'two'] }]);
    const order = { commandId: 'cm-1', requestedAt: at, at: later };
    expect(correct(again, order)).toMatchObject({ status: 'resolved' });
    const other = observe(claim('three', -70n, later), first);
    expect(other.observations).toMatchObject([{ at: later }]);
  });

  it('is kept bounded', () => {
    let current = after(claims('0'));
    for (let number = 1; number < 1_000; number += 1) current = observe(claims(String(number)), current);
    expect(current.observations[0]?.about).toHaveLength(40);
  });
});
