import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import { DEADLINE_MS, type Doing, meanwhile, payOut } from './crash-world.ts';

const HOUR_MS = 3_600_000;
/** The amount that a payout of 100 NGN takes from the float, in minor units. */
const MOVED = 10_050n;

/** Removes the ledger's posting from a payout's row: its end is published again, and answered again. */
export const unposting: Doing = async (world, { arm, death }) => {
  const { reference } = world.payout();
  const polls = world.records('reconciler', 'polls');
  await arm();
  // Without the posting the payment counts as in flight, and the float still holds the amount and the rail's fee.
  const unposted = { posted: false, booksDueAt: new Date(), inFlight: true, mayDebit: MOVED };
  await polls.updateOne({ _id: reference }, { $set: unposted, $unset: { booked: true } });
  const floats = world.records('reconciler', 'floats');
  const taken = { rail: 'upstream', currency: 'NGN', debits: { $gte: MOVED } };
  await floats.updateOne(taken, { $inc: { debits: -MOVED } });
  await death();
  return {
    events: [],
    end: async () => {
      await eventually(async () => {
        const row = await polls.findOne({ _id: reference });
        expect(row).toMatchObject({ posted: true });
        expect(row).not.toHaveProperty('booksDueAt');
      }, DEADLINE_MS);
      expect(await world.scenario.stack.operator.breaks(reference)).toEqual([]);
    },
  };
};

/** Follows a step that was overdue and is no longer overdue at the next check. */
export const following: Doing = async (world, { arm, death }) => {
  const { reference } = world.payout();
  const steps = world.records('reconciler', 'steps');
  await arm();
  const now = new Date();
  const step = { reference, kind: 'payout', step: 'hold', requests: 1, isReported: false };
  await steps.insertOne({ _id: `${reference}/hold`, ...step, since: now, dueAt: now });
  await death();
  return {
    events: [],
    end: () => eventually(async () => expect(await steps.countDocuments({ reference })).toBe(0), DEADLINE_MS),
  };
};

/** Adds one minor unit to a wallet without movements, and later takes it out again. */
export const drifting: Doing = async (world, { arm, death }) => {
  const { operator, simulator } = world.scenario.stack;
  const currency = world.stillCurrency();
  const reference = `upstream:${currency}`;
  const id = `${reference}/balance`;
  const wallet = (await simulator.wallets()).find((one) => one.currency === currency);
  const before = wallet?.balance ?? '0';
  let isDead = false;
  const compareUntil = (status: string, isOver = () => false) =>
    eventually(async () => {
      if (isOver()) return;
      await operator.compare();
      expect(await world.oneBreak(reference)).toMatchObject({ id, status });
    }, DEADLINE_MS);
  await arm();
  await simulator.setWallet(currency, (Number(before) + 0.01).toFixed(2));
  meanwhile(compareUntil('open', () => isDead));
  await death();
  // It must not run while the next rows do: it might find the faults that they inject.
  isDead = true;
  return {
    events: [`BreakOpened ${id}`, `BreakResolved ${id}`],
    end: async () => {
      await compareUntil('open');
      await simulator.setWallet(currency, before);
      await compareUntil('resolved');
    },
  };
};

/** Decides that a payout failed, an hour after an attempt whose result is unknown. */
export const ending: Doing = async (world, { arm, death }, place) => {
  const payouts = world.records('payouts', 'payouts');
  const merchantReference = world.scenario.reference(`given-up-${place}`);
  const reference = await payOut(world.scenario, merchantReference, '0017');
  const isSubmitted = async () =>
    expect(await payouts.findOne({ reference })).toMatchObject({ step: 'submitted' });
  await eventually(isSubmitted, DEADLINE_MS);
  await arm();
  const now = new Date();
  const decided = { outcome: 'failed', railFee: 0n, isPending: true, knownAt: now, decidedAt: now };
  const attemptedAt = new Date(now.getTime() - HOUR_MS);
  await payouts.updateOne({ reference }, { $set: { step: 'submitting', attemptedAt, decided, dueAt: now } });
  await death();
  return {
    events: [],
    end: async () => {
      await world.scenario.payoutBecomes(merchantReference, 'FAILED');
      await eventually(async () => {
        expect(await world.scenario.entryKinds(reference)).toEqual(['hold', 'release']);
        expect(await world.scenario.webhookStatuses(merchantReference)).toEqual(['FAILED']);
      }, DEADLINE_MS);
      expect(await world.scenario.executions(reference)).toBe(0);
    },
  };
};
