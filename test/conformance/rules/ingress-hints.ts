import { eventually } from '@pesewa/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  becomes,
  type Claimed,
  callbackBody,
  ingress,
  type Kind,
  type Seen,
  secrets,
  signed,
  type Target,
  unknownReference,
} from '../ingress.ts';

/** The state of a payment when the forged callback arrives, and the digits that lead to it without a true callback. */
const states = [
  { kind: 'payouts', digits: '0017', status: 'INITIALIZED' },
  { kind: 'payouts', digits: '0002', status: 'COMPLETED' },
  { kind: 'payouts', digits: '0003', status: 'FAILED' },
  { kind: 'collections', digits: '0017', status: 'PENDING' },
  { kind: 'collections', digits: '0002', status: 'COMPLETED' },
  { kind: 'collections', digits: '0003', status: 'FAILED' },
] as const;

const claims: Readonly<Record<Kind, readonly string[]>> = {
  payouts: ['INITIALIZED', 'COMPLETED', 'FAILED', 'REVERSED'],
  collections: ['COMPLETED', 'FAILED'],
};

/** Each state with each claim, on a payment of its own. */
const forgeries = states.flatMap((state) =>
  claims[state.kind].map((claimed) => ({
    ...state,
    claimed,
    // A claim without an end, or of the payment's real end, contradicts nothing.
    breaks: claimed === 'INITIALIZED' || claimed === state.status ? [] : ['callback.denied'],
  })),
);

/** A payment and its state before the forged callback. */
interface Victim {
  readonly target: Target;
  readonly before: Seen;
}

async function victim(kind: Kind, label: string, digits: string, status: string): Promise<Victim> {
  const target = kind === 'payouts' ? await ingress.pay(label, digits) : await ingress.collect(label, digits);
  return { target, before: await becomes(target, status) };
}

/** Sends a callback to a rail's address and waits until the reconciler has polled the rail for it. */
async function lie({ target }: Victim, claimed: Claimed, rail = 'upstream', headers: readonly string[] = []) {
  const { kind, ours } = target;
  const body = callbackBody(kind, ours, claimed);
  expect(await ingress.send({ rail, kind, body, headers })).toMatchObject({ status: 200 });
  await eventually(async () => {
    const lines = await ingress.timeline(ours);
    const heard = lines.findLastIndex((line) => /^(hint|proven|other rail) /.test(line));
    expect(lines.slice(heard + 1).some((line) => line.startsWith('poll '))).toBe(true);
  });
}

async function expectUnmoved({ target, before }: Victim, breaks: readonly string[]): Promise<void> {
  await eventually(async () => expect(await ingress.breaks(target.ours)).toEqual(breaks));
  expect(await target.look()).toEqual(before);
}

describe('ADR 6: a forged callback moves nothing, whatever it claims', () => {
  const victims = new Map<string, Victim>();
  const labelOf = (forgery: (typeof forgeries)[number]) =>
    `${forgery.kind}-${forgery.status}-${forgery.claimed}`.toLowerCase();

  beforeAll(async () => {
    await Promise.all(
      forgeries.map(async (forgery) => {
        const { kind, digits, status, claimed } = forgery;
        const one = await victim(kind, labelOf(forgery), digits, status);
        victims.set(labelOf(forgery), one);
        await lie(one, { status: claimed });
      }),
    );
  });

  it.each(forgeries)('$kind: $claimed of one that is $status', async (forgery) => {
    const one = victims.get(labelOf(forgery));
    if (!one) throw new Error('there is no such victim');
    await expectUnmoved(one, forgery.breaks);
  });

  it('still so when everything that was due has been asked', async () => {
    const pending = victims.get('collections-pending-completed');
    const polls = async () => {
      const journal = await ingress.scenario.stack.simulator.journal(pending?.target.ours ?? '');
      return journal.filter(({ operation }) => operation === 'check').length;
    };
    const before = await polls();
    await eventually(async () => expect(await polls()).toBeGreaterThan(before + 2));
    for (const forgery of forgeries) {
      const one = victims.get(labelOf(forgery));
      expect(await one?.target.look(), labelOf(forgery)).toEqual(one?.before);
      expect(await ingress.breaks(one?.target.ours ?? ''), labelOf(forgery)).toEqual(forgery.breaks);
    }
  });
});

describe('ADR 23: a callback with another amount', () => {
  it.each([
    ['payouts', '0002', 'callback.amount_differs'],
    ['collections', '0002', 'collection.amount_differs'],
  ] as const)('of ended %s is one break, and moves nothing', async (kind, digits, expected) => {
    const one = await victim(kind, `amount-${kind}`, digits, 'COMPLETED');
    await lie(one, { status: 'COMPLETED', amount: 250 });
    await lie(one, { status: 'COMPLETED', amount: 250, mark: 'again' });
    await expectUnmoved(one, [expected]);
  });

  it.each(['payouts', 'collections'] as const)('of pending %s moves nothing', async (kind) => {
    const status = kind === 'payouts' ? 'INITIALIZED' : 'PENDING';
    const one = await victim(kind, `amount-pending-${kind}`, '0017', status);
    await lie(one, { status: 'COMPLETED', amount: 1_000_000, currency: 'GHS' });
    await expectUnmoved(one, ['callback.denied']);
  });
});

describe('ADR 6: a callback of success for a payout that never reached the rail', () => {
  it('moves nothing, and the payout is paid once all the same', async () => {
    const { simulator } = ingress.scenario.stack;
    await simulator.setFaults({ outage: true });
    const target = await ingress.pay('never-submitted', '9999');
    const body = callbackBody('payouts', target.ours, { status: 'COMPLETED' });
    expect(await ingress.send({ rail: 'upstream', kind: 'payouts', body })).toMatchObject({ status: 200 });
    await eventually(async () => expect(await ingress.timeline(target.ours)).toContain('poll unknown'));
    const held = { status: 'INITIALIZED', webhooks: [], orders: 0, executions: 0 };
    expect(await target.look()).toMatchObject(held);
    await simulator.setFaults({ outage: null });
    const paid = await becomes(target, 'COMPLETED');
    expect(paid.executions).toBe(1);
    expect(['', 'callback.denied']).toContain((await ingress.breaks(target.ours)).join());
  });
});

describe('ADR 6: the word of another rail proves nothing', () => {
  it.each(['payouts', 'collections'] as const)('even signed by a rail that is proven (%s)', async (kind) => {
    const status = kind === 'payouts' ? 'INITIALIZED' : 'PENDING';
    const one = await victim(kind, `foreign-${kind}`, '0017', status);
    const body = callbackBody(kind, one.target.ours, { status: 'COMPLETED' });
    await lie(one, { status: 'COMPLETED' }, 'proven', signed(body, secrets.proven));
    // The callback causes a poll of the rail and has no other effect on this payment.
    expect(await ingress.timeline(one.target.ours)).toContain('other rail COMPLETED');
    await expectUnmoved(one, []);
  });

  it('at the address of the other kind it is none of ours', async () => {
    const one = await victim('payouts', 'other-kind', '0017', 'INITIALIZED');
    const body = callbackBody('collections', one.target.ours, { status: 'COMPLETED' });
    const answer = await ingress.send({ rail: 'upstream', kind: 'collections', body });
    expect(answer.status).toBe(400);
    expect(await one.target.look()).toEqual(one.before);
  });
});

describe('contract 10.16: a callback with an unknown reference', () => {
  it.each(['payouts', 'collections'] as const)(
    'is kept, and shown to people after the grace time if its rail proves it (%s)',
    async (kind) => {
      const [ours, madeUp] = [unknownReference(kind), unknownReference(kind)];
      const sendProven = (status: string) => {
        const body = callbackBody(kind, ours, { status });
        return ingress.send({ rail: 'proven', kind, body, headers: signed(body, secrets.proven) });
      };
      const body = callbackBody(kind, madeUp, { status: 'COMPLETED' });
      expect(await ingress.send({ rail: 'upstream', kind, body })).toMatchObject({ status: 200 });
      expect(await sendProven('COMPLETED')).toMatchObject({ status: 200 });
      await eventually(async () =>
        expect(await ingress.breaks(ours)).toEqual(['callback.unknown_reference']),
      );
      expect(await ingress.kept(ours)).toHaveLength(1);
      expect(await sendProven('FAILED')).toMatchObject({ status: 200 });
      await eventually(async () => expect(await ingress.timeline(ours)).toContain('hint FAILED'));
      expect(await ingress.breaks(ours)).toEqual(['callback.unknown_reference']);
      expect(await ingress.kept(madeUp)).toHaveLength(1);
      expect(await ingress.breaks(madeUp)).toEqual([]);
    },
  );
});
