import { createHash } from 'node:crypto';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import { drifting, ending, following, unposting } from './crash-payment-actions.ts';
import type { OperatorAction } from './crash-rows-reconciler.ts';
import { DEADLINE_MS, type Doing, type EndedPayout, meanwhile } from './crash-world.ts';

const feeBreak = ({ reference }: EndedPayout) => `${reference}/fee`;
const change = (id: string, verb: string) => `/breaks/${encodeURIComponent(id)}/${verb}`;
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** How often a line occurs in a break's history. */
const linesOf = (history: unknown, what: string) =>
  (history as readonly { readonly what: string }[]).filter((line) => line.what === what).length;

/** Runs the two steps of an adjustment for a break, one of them with the crash point armed (ADR 70). */
const adjusting =
  (armed: 'propose' | 'approve'): Doing =>
  async (world, { arm, death }) => {
    const payout = world.differing();
    const breakId = feeBreak(payout);
    const commandId = `bk-${digestOf(breakId).slice(0, 24)}`;
    const money = {
      merchantId: world.scenario.merchantId,
      currency: 'NGN',
      amount: '1',
      direction: 'credit',
    };
    const propose = () =>
      world.insist({
        service: 'ledger',
        path: '/commands/adjust',
        body: { ...money, commandId, breakId, reason: 'the rail took less' },
      });
    const approve = () =>
      world.insist({ service: 'ledger', path: `/commands/${commandId}/approve`, body: {}, as: 'approver' });
    if (armed === 'approve') await propose();
    await arm();
    const done = meanwhile(armed === 'approve' ? approve() : propose().then(approve));
    await death();
    return {
      events: ['BreakOpened', 'BreakResolved'].map((event) => `${event} ${breakId}`),
      orders: [commandId],
      end: async () => {
        await done();
        await eventually(async () => {
          expect(await world.oneBreak(payout.reference)).toMatchObject({ id: breakId, status: 'resolved' });
        }, DEADLINE_MS);
        const whole = await world.look(change(breakId, '').slice(0, -1));
        expect(whole['corrections']).toEqual([commandId]);
        expect(linesOf(whole['history'], 'adjustment booked')).toBe(1);
        expect(await world.scenario.entryKinds(commandId)).toEqual(['adjust']);
      },
    };
  };

const explaining: Doing = async (world, { arm, death }) => {
  const payout = world.differing();
  const id = feeBreak(payout);
  await arm();
  const body = { explanation: 'the rail changed its fee that night' };
  const done = meanwhile(world.insist({ service: 'reconciler', path: change(id, 'explain'), body }));
  await death();
  return {
    events: [`BreakOpened ${id}`],
    end: async () => {
      await done();
      const whole = await world.look(change(id, '').slice(0, -1));
      expect(whole).toMatchObject({ status: 'explained', ...body });
      expect(linesOf(whole['history'], 'explained')).toBe(1);
    },
  };
};

/** Runs a close over a single payout whose fee at the rail differs: one record, one result, one break. */
const closing: Doing = async (world, { arm, death }) => {
  const payout = world.payout();
  const { reference, endedAt } = payout;
  await world.injectFee([payout]);
  await arm();
  const body = { date: endedAt.toISOString().slice(0, 10) };
  const made = meanwhile(world.insist({ service: 'reconciler', path: '/closes', body }));
  await death();
  const breakId = feeBreak(payout);
  return {
    events: [`BreakOpened ${breakId}`],
    end: async () => {
      const id = String((await made())['id']);
      await eventually(async () => {
        expect(await world.look(`/closes/${id}`)).toMatchObject({ status: 'done', payments: 1, done: 1 });
      }, DEADLINE_MS);
      const { items } = await world.look(`/closes/${id}/records`);
      expect(items).toMatchObject([{ reference, result: 'differs', breakId }]);
      expect(await world.oneBreak(reference)).toMatchObject({ id: breakId, status: 'open' });
    },
  };
};

const mapping = {
  columns: { reference: 'Ref', amount: 'Amount', fee: 'Fee', time: 'Time', kind: 'Kind' },
  time: { format: 'ISO' },
  kinds: { payout: ['payout'], other: ['top up'] },
};
/** More lines than one transaction stores. */
const ASIDE = 1_200;

/** Uploads a statement: a payout that agrees, one with another amount, three unknown ones and many lines set aside. */
const stating: Doing = async (world, { arm, death }, place) => {
  const [same, other] = [world.payout(), world.payout()];
  const lost = [1, 2, 3].map((at) => `po-${digestOf(`${place}.${at}`).slice(0, 32)}`);
  const line = (reference: string, amount: string, { endedAt } = same) =>
    `${reference},${amount},0.5,${endedAt.toISOString()},payout`;
  const lines = [
    line(same.reference, '100'),
    line(other.reference, '90', other),
    ...Array.from({ length: ASIDE }, (_, at) => `,${at + 1},,${same.endedAt.toISOString()},top up`),
    ...lost.map((reference) => line(reference, '7')),
  ];
  const content = `Ref,Amount,Fee,Time,Kind\r\n${lines.join('\r\n')}\r\n`;
  const terms = new URLSearchParams({
    rail: 'upstream',
    mapping: JSON.stringify(mapping),
    sha256: digestOf(content),
    currency: 'NGN',
    // In this window no other payment of ours ended.
    from: same.endedAt.toISOString(),
    to: new Date(same.endedAt.getTime() + 1).toISOString(),
  });
  await arm();
  const path = `/statements?${terms.toString()}`;
  const sent = meanwhile(world.insist({ service: 'reconciler', path, body: content }));
  await death();
  const breakIds = [
    `${other.reference}/amount`,
    // Three breaks fit under the limit.
    ...lost.slice(0, 2).map((reference) => `${reference}/existence`),
  ];
  return {
    events: breakIds.map((id) => `BreakOpened ${id}`),
    end: async () => {
      const id = String((await sent())['id']);
      await eventually(async () => {
        expect(await world.look(`/statements/${id}`)).toMatchObject({ status: 'done' });
      }, DEADLINE_MS);
      expect(await world.look(`/statements/${id}`)).toMatchObject({
        lines: lines.length,
        counts: { matched: 1, differs: 1, not_in_books: 3, set_aside: ASIDE },
        breaksOpened: 3,
        breaksHidden: 1,
      });
      const kept = await world.records('reconciler', 'statement_records').find({ run: id }).toArray();
      const numbers = kept.map((record) => Number(record['line'])).toSorted((one, next) => one - next);
      expect(numbers).toEqual(lines.map((_, at) => at + 2));
      for (const found of [other.reference, ...lost.slice(0, 2)])
        expect(await world.oneBreak(found)).toMatchObject({ status: 'open' });
    },
  };
};

/** The implementation of each operator action. */
export const actions: Readonly<Record<OperatorAction, Doing>> = {
  'an adjustment is proposed': adjusting('propose'),
  'an adjustment is approved': adjusting('approve'),
  'a break is explained': explaining,
  'a close finds a difference': closing,
  'a statement comes in': stating,
  'a statement is matched': stating,
  'a posting is missing': unposting,
  'a step is looked at again': following,
  'a wallet drifts': drifting,
  'a payout ends as people decided': ending,
};
