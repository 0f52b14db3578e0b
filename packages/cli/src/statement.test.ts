import type { OperationsAnswer } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const page = (
  items: readonly object[],
  next: string | null,
  closing = { available: '89.9', held: '10.1' },
  final = true,
): OperationsAnswer => ({
  status: 200,
  body: {
    account: 'wallet:demo:GHS',
    currency: 'GHS',
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
    final,
    opening: { available: '100', held: '0' },
    closing,
    items,
    next,
  },
});
const hold = {
  id: 'po-1/hold',
  at: '2026-11-02T08:00:00.000Z',
  kind: 'hold',
  reference: 'po-1',
  causationId: 'ev-1',
  debit: 'wallet:demo:GHS:available',
  credit: 'wallet:demo:GHS:held',
  amount: { available: '-10.1', held: '10.1' },
  balance: { available: '89.9', held: '10.1' },
};
const twice = { available: '79.8', held: '20.2' };
const unmoved = { available: '100', held: '0' };
const railFee = { ...hold, id: 'po-1/railCost', kind: 'railCost' };
const odd = { ...hold, id: '=1/fund', kind: 'fund', reference: '=1+1', debit: 'treasury:GHS' };

const theirs = { items: [{ reference: 'po-1', merchantReference: 'order-1' }], next: null };

/** A ledger with these pages, of which the last comes again, and a gateway that knows a payment. */
function serving(
  pages: readonly OperationsAnswer[],
  gateway: OperationsAnswer = { status: 200, body: theirs },
) {
  const left = [...pages];
  return commandLine((url) => {
    if (url.includes('/payments/references')) return gateway;
    return (left.length > 1 ? left.shift() : left[0]) ?? gateway;
  });
}

const call = ['statement', 'wallet:demo:GHS', '--from', '2026-11-01', '--to', '2026-11-30'] as const;

describe('a statement', () => {
  it('is a table with the balances before and after, its money to the right', async () => {
    const line = serving([page([hold], null)]);
    expect(await line.run(...call)).toBe(0);
    expect(line.requests).toEqual([
      'http://ledger/statements?account=wallet%3Ademo%3AGHS&from=2026-11-01T00%3A00%3A00.000Z&to=2026-12-01T00%3A00%3A00.000Z&limit=500',
      'http://payouts/payments/references?references=po-1',
    ]);
    expect(line.printed()).toBe(
      [
        'GHS wallet of demo, from 2026-11-01T00:00:00.000Z to 2026-12-01T00:00:00.000Z',
        'positive amounts are credits: what we owe or earned',
        '',
        'AT                        KIND     REFERENCE  MERCHANT REFERENCE  COUNTER-ACCOUNT  AVAILABLE MOVED  HELD MOVED   AVAILABLE       HELD',
        '2026-11-01T00:00:00.000Z  opening  -          -                   -                              -           -  100.00 GHS   0.00 GHS',
        '2026-11-02T08:00:00.000Z  hold     po-1       order-1             -                     -10.10 GHS   10.10 GHS   89.90 GHS  10.10 GHS',
        '2026-12-01T00:00:00.000Z  closing  -          -                   -                              -           -   89.90 GHS  10.10 GHS',
        '',
      ].join('\n'),
    );
  });

  it('of an account with one balance has one, and says where it may still grow', async () => {
    const { body } = page([], null);
    const open = { opening: { balance: '-4' }, closing: { balance: '-4' }, final: false };
    const line = serving([{ status: 200, body: Object.assign({}, body, open) }]);
    await line.run('statement', 'float:upstream:GHS');
    expect(line.printed()).toMatch(/COUNTER-ACCOUNT  BALANCE MOVED +BALANCE\n.* -4\.00 GHS\n/);
    expect(line.printed()).toContain('not final');
  });

  it('is read over all pages, and says so while it does', async () => {
    const line = serving([page([hold], 'next-page'), page([odd], null, twice)]);
    await line.run(...call, '--format', 'json');
    expect(JSON.parse(line.printed())).toMatchObject({
      items: [
        { id: 'po-1/hold', merchantReference: 'order-1' },
        { id: '=1/fund', merchantReference: null },
      ],
    });
    expect(JSON.stringify(line.requests[1])).toContain('cursor=next-page');
    expect(line.shown).toEqual(['1 entries …', '1 of 1 references …']);
  });

  it('is CSV that no spreadsheet reads as a formula', async () => {
    const line = serving([page([hold, odd], null, twice)]);
    await line.run(...call, '--format', 'csv');
    expect(line.printed().split('\r\n')).toEqual([
      'AT,KIND,REFERENCE,MERCHANT REFERENCE,COUNTER-ACCOUNT,CURRENCY,AVAILABLE MOVED,HELD MOVED,AVAILABLE,HELD',
      '2026-11-01T00:00:00.000Z,opening,,,,GHS,,,100,0',
      '2026-11-02T08:00:00.000Z,hold,po-1,order-1,,GHS,-10.1,10.1,89.9,10.1',
      "2026-11-02T08:00:00.000Z,fund,'=1+1,,treasury:GHS,GHS,-10.1,10.1,89.9,10.1",
      '2026-12-01T00:00:00.000Z,closing,,,,GHS,,,79.8,20.2',
      '',
    ]);
  });

  it('names what an entry is in words; JSON and CSV keep the codes', async () => {
    const printed = async (...format: readonly string[]) => {
      const line = serving([page([railFee], null)]);
      await line.run(...call, ...format);
      return line.printed();
    };
    expect(await printed()).toContain('  rail fee  po-1  ');
    expect(await printed('--format', 'csv')).toContain(',railCost,po-1,order-1,,GHS,-10.1,10.1,');
    expect(JSON.parse(await printed('--format', 'json'))).toMatchObject({
      account: 'wallet:demo:GHS',
      items: [{ kind: 'railCost', amount: { held: '10.1' } }],
    });
  });

  it('is final only where every page of it was', async () => {
    const line = serving([page([hold], 'next-page', twice, false), page([odd], null, twice)]);
    expect(await line.run(...call)).toBe(0);
    expect(line.printed()).toContain('not final');
  });

  it('is read again where an entry came in between, and given up where one always does', async () => {
    const torn = page([hold], null, twice);
    const line = serving([torn, torn, page([hold, odd], null, twice)]);
    expect(await line.run(...call)).toBe(0);
    expect(line.printed()).toContain('=1+1');
    expect(line.requests.filter((url) => String(url).includes('/statements'))).toHaveLength(3);
    const restless = serving([torn]);
    expect(await restless.run(...call)).toBe(1);
    expect(restless.requests).toHaveLength(3);
    expect(restless.complained()).toBe(
      'pesewa: --to: wallet:demo:GHS moved each time while it was read: end it at a time that has passed\n',
    );
  });

  it('asks each gateway for its own payments’ references, a hundred at a time, and each once', async () => {
    const ids = Array.from({ length: 101 }, (_, number) => `po-${number}`);
    const moved = { available: '0', held: '0' };
    const items = [...ids, 'po-7', 'co-1', 'fund-1'].map((reference) => ({
      ...hold,
      reference,
      amount: moved,
    }));
    const line = serving([page(items, null, unmoved)]);
    expect(await line.run(...call)).toBe(0);
    const url = (host: string, of: readonly string[]) =>
      `http://${host}/payments/references?references=${encodeURIComponent(of.join())}`;
    expect(line.requests.slice(1)).toEqual([
      url('payouts', ids.slice(0, 100)),
      url('payouts', ids.slice(100)),
      url('collections', ['co-1']),
    ]);
  });

  it('is shown without the merchants’ references where a gateway does not answer, and says so', async () => {
    const line = serving([page([hold], null)], { status: 503, body: undefined });
    expect(await line.run(...call)).toBe(0);
    expect(line.printed()).toMatch(/hold {5}po-1 {7}- /);
    expect(line.complained()).toBe(
      "payout-gateway: answered 503, no reason given: merchants' references are left out\n",
    );
  });

  it('is of the wallet of a merchant, where its currency is named beside it', async () => {
    const line = serving([page([], null, unmoved)]);
    expect(await line.run('statement', 'demo', 'ghs')).toBe(0);
    expect(line.requests[0]).toContain('account=wallet%3Ademo%3AGHS&');
  });

  it('is of today where no time is given, and a date counts whole', async () => {
    const line = serving([page([], null, unmoved)]);
    await line.run('statement', 'suspense:GHS');
    expect(line.requests).toEqual([
      'http://ledger/statements?account=suspense%3AGHS&from=1970-01-01T00%3A00%3A00.000Z&to=1970-01-02T00%3A00%3A00.000Z&limit=500',
    ]);
  });

  it.each([
    [['--from', 'yesterday'], '--from: yesterday is no time: write 2026-11-01 or 2026-11-01T08:00:00Z'],
    [['--from', '2026-02-30'], '--from: 2026-02-30 is no time: write 2026-11-01 or 2026-11-01T08:00:00Z'],
    [
      ['--from', '2026-13-01T00:00Z'],
      '--from: 2026-13-01T00:00Z is no time: write 2026-11-01 or 2026-11-01T08:00:00Z',
    ],
    [
      ['--to', '2026-11-01T08:00:00'],
      '--to: 2026-11-01T08:00:00 is no time: write 2026-11-01 or 2026-11-01T08:00:00Z',
    ],
    [
      ['--from', '2026-11-02', '--to', '2026-11-01'],
      '--from: 2026-11-02 is not before 2026-11-01: write an earlier one, or a later --to',
    ],
  ])('is not asked for with %j', async (options, message) => {
    const line = serving([page([], null, unmoved)]);
    expect(await line.run('statement', 'wallet:demo:GHS', ...options)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
    expect(line.requests).toEqual([]);
  });
});
