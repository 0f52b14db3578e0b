import { numberText } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { api, expectAccepted, singleBody } from '../conformance.ts';

const text = z.string().min(1);
const moment = z.strictObject({ bookedBalance: numberText, balance: numberText, heldBalance: numberText });
const wallets = z.array(z.object({ balance: numberText }));
const page = z.strictObject({
  currency: text,
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
  opening: moment,
  closing: moment,
  lines: z.array(
    z.strictObject({
      bookedAt: z.iso.datetime(),
      type: text,
      description: text,
      merchantReference: text.nullable(),
      transactionReference: text,
      amount: numberText,
      feeAmount: numberText.nullable(),
      bookedBalance: numberText,
    }),
  ),
  nextCursor: text.nullable(),
});

async function statementOf(key: string, query: Readonly<Record<string, string>> = {}) {
  const parameters = new URLSearchParams({ currency: 'NGN', ...query });
  const answer = await api.call({ path: `/api/v1/wallets/statement?${parameters.toString()}`, key });
  expect(answer).toMatchObject({ status: 200, code: '00' });
  return page.parse(answer.data);
}

describe('contract 10.22: the statement of a wallet', () => {
  it('has what was booked, also between its pages, none of what failed, and none of another merchant', async () => {
    const key = await api.addMerchant('statement-own');
    const [paid, failed] = [api.scenario.reference('paid'), api.scenario.reference('failed')];
    expectAccepted(await api.submit(singleBody(failed, { 'beneficiary.accountNumber': '0123450001' }), key));
    expectAccepted(await api.submit(singleBody(paid), key));
    const whole = await eventually(async () => {
      const found = await statementOf(key);
      expect(found.lines).toHaveLength(3);
      expect(found.closing.heldBalance).toBe('0');
      return found;
    });
    expect(whole).toMatchObject({
      opening: { bookedBalance: '0', balance: '0' },
      lines: [
        { type: 'FUNDING', merchantReference: null, amount: '1000000', bookedBalance: '1000000' },
        { type: 'PAYOUT', merchantReference: paid },
        { type: 'PAYOUT_FEE', merchantReference: paid, bookedBalance: whole.closing.bookedBalance },
      ],
      nextCursor: null,
    });
    await eventually(async () => {
      const answer = await api.call({ method: 'POST', path: '/api/v1/wallets/balance?currency=NGN', key });
      expect(wallets.parse(answer.data)).toEqual([{ balance: whole.closing.balance }]);
    });
    const first = await statementOf(key, { limit: '2' });
    const last = await statementOf(key, { limit: '2', cursor: first.nextCursor ?? '' });
    expect([...first.lines, ...last.lines]).toEqual(whole.lines);
    const stranger = await api.addMerchant('statement-stranger', { funding: null });
    expect(await statementOf(stranger, { cursor: first.nextCursor ?? '' })).toMatchObject({
      closing: { bookedBalance: '0' },
      lines: [],
    });
  });
});
