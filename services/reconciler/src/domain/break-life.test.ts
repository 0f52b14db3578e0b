import { describe, expect, it } from 'vitest';
import { type Break, type FoundBreak, resolved, statusOf } from './break.ts';
import { type BreakKind, breakKinds, termsOfBreak } from './break-kinds.ts';
import { type BreakRequest, changeBreak, orderWaitsFor, type Requester } from './break-life.ts';
import { observe } from './observing.ts';

const day = (number: number) => new Date(Date.UTC(2026, 10, number));
const found: FoundBreak = {
  field: 'balance',
  observer: 'audit',
  kind: 'wallet.drift',
  reference: 'upstream:KES',
  currency: 'KES',
  amount: -100n,
  detail: 'one is missing',
  at: day(1),
};
const requests = {
  assign: { what: 'assign', text: 'kofi' },
  note: { what: 'note', text: 'asked the rail' },
  explain: { what: 'explain', text: 'a fee of theirs' },
  resolve: { what: 'resolve', text: 'they paid it back' },
  reopen: { what: 'reopen', text: 'they did not' },
} as const satisfies Record<string, BreakRequest>;
const ama = (number = 2, hasEnded: Requester['hasEnded'] = null): Requester => ({
  by: 'ama',
  at: day(number),
  hasEnded,
});

/** The break after requests, all of which must be accepted. */
function after(granted: readonly BreakRequest[], from = observe(found, undefined)): Break {
  let current = from;
  for (const request of granted) {
    const changed = changeBreak(current, request, ama());
    if (!changed.ok) throw new Error(`${request.what} was refused: ${changed.refusal}`);
    current = changed.value;
  }
  return current;
}

const stages = {
  open: after([]),
  assigned: after([requests.assign]),
  explained: after([requests.explain]),
  resolved: after([requests.resolve]),
};

describe('the life of a break', () => {
  it.each<[keyof typeof stages, keyof typeof requests, string]>([
    ['open', 'assign', 'assigned'],
    ['open', 'note', 'open'],
    ['open', 'explain', 'explained'],
    ['open', 'resolve', 'resolved'],
    ['open', 'reopen', 'break.unresolved'],
    ['assigned', 'note', 'assigned'],
    ['assigned', 'explain', 'explained'],
    ['assigned', 'resolve', 'resolved'],
    ['assigned', 'reopen', 'break.unresolved'],
    ['explained', 'assign', 'explained'],
    ['explained', 'note', 'explained'],
    ['explained', 'resolve', 'resolved'],
    ['explained', 'reopen', 'break.unresolved'],
    ['resolved', 'assign', 'break.resolved'],
    ['resolved', 'note', 'resolved'],
    ['resolved', 'explain', 'break.resolved'],
    ['resolved', 'reopen', 'open'],
  ])('leads from %s by %s to %s', (stage, verb, outcome) => {
    const current = stages[stage];
    const changed = changeBreak(current, requests[verb], ama(3));
    expect(changed.ok ? statusOf(changed.value) : changed.refusal).toBe(outcome);
    if (!changed.ok) return;
    expect(changed.value.version).toBe(current.version + 1);
    expect(changed.value.history).toHaveLength(current.history.length + 1);
    expect(changed.value.history.at(-1)).toMatchObject({ by: 'ama', at: day(3) });
  });

  it('takes the same request of the same person once: an answer may be lost', () => {
    for (const request of Object.values(requests)) {
      const current = request.what === 'reopen' ? after([requests.resolve, request]) : after([request]);
      expect(changeBreak(current, request, ama(5))).toEqual({ ok: true, value: current });
    }
    const noted = after([requests.note]);
    const other = changeBreak(noted, requests.note, { ...ama(), by: 'kofi' });
    expect(other.ok && other.value.history).toHaveLength(3);
  });

  it('reopens a resolved break that is found again: without an owner, and with its history', () => {
    const judged = after([requests.assign, requests.explain, requests.resolve]);
    const again = observe({ ...found, amount: -70n, at: day(9) }, judged);
    expect(statusOf(again)).toBe('open');
    expect(again).toMatchObject({
      amount: -70n,
      openedAt: day(1),
      since: day(9),
      version: judged.version + 1,
    });
    for (const gone of ['owner', 'explanation', 'resolution', 'resolvedAt', 'resolvedBy'])
      expect(again).not.toHaveProperty(gone);
    expect(again.history.map(({ what }) => what)).toEqual([
      'opened',
      'assigned',
      'explained',
      'resolved',
      'opened again',
    ]);
  });

  it('learns another amount while it stands, and nothing where nothing is new', () => {
    const assigned = after([requests.assign]);
    expect(observe({ ...found, at: day(9) }, assigned)).toBe(assigned);
    const other = observe({ ...found, amount: -70n, at: day(9) }, assigned);
    expect(other).toMatchObject({ amount: -70n, owner: 'kofi', openedAt: day(1), since: day(1) });
    expect(other.history.at(-1)).toMatchObject({ what: 'found again', by: null, amount: -70n });
  });

  it('closes by itself with its cause, whether or not it is assigned', () => {
    const explained = after([requests.assign, requests.explain]);
    const closed = resolved(explained, { by: null, at: day(4) }, 'back in range');
    expect(closed).toMatchObject({
      status: 'resolved',
      resolution: 'back in range',
      resolvedAt: day(4),
      owner: 'kofi',
    });
    expect(closed).not.toHaveProperty('resolvedBy');
    expect(after([requests.reopen, requests.resolve], closed)).toMatchObject({ resolvedBy: 'ama' });
  });

  it('is resolved by hand, and corrected by an order, as its kind allows', () => {
    const expected = {
      final: null,
      again: null,
      ended: 'break.waits_for_end',
      decided: 'break.waits_for_decision',
    } as const;
    // The end of an open payment may still book what the rail reports.
    const rails = ['poll', 'close', 'statement'];
    const said = { amount: -100n, detail: 'x', at: day(1), currency: 'KES' };
    for (const kind of Object.keys(breakKinds) as BreakKind[]) {
      const { manualResolution, observer } = termsOfBreak(kind);
      const current = { ...stages.open, kind, observations: [{ ...said, observer, kind }] };
      const refusals = [true, null, false].map((hasEnded) => {
        const changed = changeBreak(current, requests.resolve, ama(3, hasEnded));
        return changed.ok ? null : changed.refusal;
      });
      expect([kind, ...refusals]).toEqual([kind, null, null, expected[manualResolution]]);
      const waits = [true, null, false].map((hasEnded) => orderWaitsFor(current, { hasEnded }));
      const early = rails.includes(observer) && manualResolution !== 'decided' ? 'end' : null;
      const first = { final: early, again: early, ended: 'end', decided: 'decision' } as const;
      expect([kind, ...waits]).toEqual([kind, null, null, first[manualResolution]]);
    }
    // What any of its observers says must be over.
    const reported: Break = {
      ...stages.open,
      observations: [
        { ...said, observer: 'statement', kind: 'statement.differs' },
        { ...said, observer: 'poll', kind: 'payout.amount_differs' },
      ],
    };
    const refusalOf = (hasEnded: boolean) => changeBreak(reported, requests.resolve, ama(3, hasEnded));
    expect(refusalOf(false)).toMatchObject({ ok: false, refusal: 'break.waits_for_end' });
    expect(refusalOf(true)).toMatchObject({ ok: true });
    expect([
      breakKinds['payout.amount_differs'].manualResolution,
      breakKinds['payment.contradiction'].manualResolution,
    ]).toEqual(['ended', 'ended']);
    expect(breakKinds['collection.amount_differs'].manualResolution).toBe('decided');
    expect(breakKinds['payment.stuck'].manualResolution).toBe('ended');
  });

  it('keeps its history bounded: what people said stays longest, and resolving is always possible', () => {
    let current = after([]);
    for (let number = 0; number < 100; number += 1)
      current = after([{ what: 'note', text: `note ${number}` }], current);
    expect(changeBreak(current, requests.note, ama())).toEqual({ ok: false, refusal: 'break.full' });
    for (let number = 0; number < 200; number += 1)
      current = observe({ ...found, amount: BigInt(number), at: day(9) }, current);
    current = after([requests.resolve], current);
    expect(current.history).toHaveLength(150);
    expect(current.history[0]?.what).toBe('opened');
    expect(current.history.filter(({ what }) => what === 'noted')).toHaveLength(100);
    expect(current.history.at(-1)).toMatchObject({ what: 'resolved', by: 'ama' });
  });
});
