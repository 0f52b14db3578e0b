import { describe, expect, it } from 'vitest';
import { createNameEnquiry } from './name-enquiry.ts';
import { openTestRails } from './processors.fixture.ts';
import type { Processors } from './processors.ts';

const query = { accountNumber: '0123456789', bankCode: '058', currency: 'NGN', country: 'NGA' };
const works = { first: { processors: [] } };

function open(
  options: { readonly account?: object; readonly scripts?: Parameters<typeof openTestRails>[0] } = {},
) {
  const { rails, asked } = openTestRails(options.scripts ?? works, options.account);
  const logged: unknown[] = [];
  const route: Processors['route'] = async () => ({ kind: 'routed', rail: 'first' });
  const logger = { warn: (...line: unknown[]) => void logged.push(line) };
  return { enquire: createNameEnquiry({ route, rail: rails.get, logger }), asked, logged };
}

describe('name enquiry', () => {
  it("gives the rail's name as one clean line, with the account as it was asked for", async () => {
    const { enquire, logged } = open({
      account: { accountName: ' Ama\u0000 \u001b[31mMensah\r\n\u2028\u202e\u2066 ' },
    });
    expect(await enquire(query)).toEqual({
      kind: 'found',
      account: {
        accountName: 'Ama [31mMensah',
        accountNumber: '0123456789',
        bankCode: '058',
        sessionId: 's-1',
      },
    });
    expect(logged).toEqual([]);
  });

  it('takes the same account number in another spelling', async () => {
    const { enquire } = open({ account: { accountNumber: '0123-456 789' } });
    expect(await enquire(query)).toMatchObject({ kind: 'found', account: { accountNumber: '0123456789' } });
  });

  it('bounds what the rail says', async () => {
    const { enquire } = open({ account: { accountName: 'A'.repeat(100_000) } });
    expect(await enquire(query)).toMatchObject({ kind: 'found', account: { accountName: 'A'.repeat(140) } });
  });

  it.each([
    ['an empty name', { account: { accountName: '\u0007' } }],
    ['no name', { account: { accountName: 7 } }],
    ['another account number', { account: { accountNumber: '0123456780' } }],
    ['another bank', { account: { bankCode: '044' } }],
    ['a broken rail', { scripts: { first: 'broken' as const } }],
  ])('%s is no answer', async (_, options) => {
    const { enquire, logged } = open(options);
    expect(await enquire(query)).toEqual({ kind: 'unavailable' });
    expect(JSON.stringify(logged)).not.toContain(query.accountNumber);
  });

  it('asks no rail without a route', async () => {
    const { rails, asked } = openTestRails(works);
    const enquire = createNameEnquiry({
      route: async () => ({ kind: 'noProcessor', why: 'blocked' }),
      rail: rails.get,
      logger: { warn: () => undefined },
    });
    expect(await enquire(query)).toEqual({ kind: 'noProcessor', why: 'blocked' });
    expect(asked).toEqual([]);
  });
});
