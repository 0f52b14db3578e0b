import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { api, expectAccepted, number, singleBody } from '../conformance.ts';
import { holder, processors, wallets } from '../shapes.ts';

const balance = '/api/v1/wallets/balance';

async function walletsOf(query = '', key = api.demoKey) {
  const answer = await api.call({ method: 'POST', path: `${balance}${query}`, key });
  expect(answer).toMatchObject({ status: 200, code: '00' });
  return wallets.parse(answer.data);
}

describe('contract 2.5, 4.4: balance', () => {
  it('is a list with one wallet for each currency of the merchant', async () => {
    await eventually(async () => {
      const listed = await walletsOf();
      const places = listed.map((wallet) => `${wallet.currencyCode} ${wallet.countryCode}`).toSorted();
      expect(places).toEqual([
        'EGP EGY',
        'GHS GHA',
        'GMD GMB',
        'KES KEN',
        'NGN NGA',
        'XAF CMR',
        'XOF CIV',
        'ZAR ZAF',
      ]);
      expect(listed.map((wallet) => Number(wallet.balance))).toEqual(listed.map(() => 1_000_000));
    });
  });

  it('asks for no body, and reads none', async () => {
    const headers = ['content-type', 'application/json'];
    const answer = await api.call({ method: 'POST', path: balance, headers, body: '{}' });
    expect(wallets.parse(answer.data)).toHaveLength(8);
  });

  it('currency restricts it to one', async () => {
    const listed = await walletsOf('?currency=GHS');
    expect(listed.map(({ currencyCode }) => currencyCode)).toEqual(['GHS']);
  });

  it.each(['QQQ', 'USD', 'nothing'])('currency %s gives an empty list (contract 10.8)', async (currency) => {
    expect(await walletsOf(`?currency=${currency}`)).toEqual([]);
  });

  it.each(['?currency=%24ne', '?currency[$ne]=GHS', '?currency=GHS&currency=NGN'])(
    'contract 10.8: 30: %s is refused',
    async (query) => {
      const answer = await api.call({ method: 'POST', path: `${balance}${query}` });
      expect(answer).toMatchObject({ status: 400, code: '30', data: undefined });
    },
  );

  it('shows what can be spent now: amount and fee of an open payout are gone from it (contract 10.8)', async () => {
    const before = Number((await walletsOf('?currency=ZAR'))[0]?.balance);
    const place = {
      country: 'South Africa',
      currency: 'ZAR',
      'beneficiary.bankCode': '632005',
      'beneficiary.accountType': 'savings',
      'beneficiary.identificationType': 'passport',
      'beneficiary.identificationNumber': 'A0000001',
    };
    const request = {
      ...place,
      'beneficiary.amount': number('100'),
      'beneficiary.accountNumber': '0123450017',
    };
    expectAccepted(await api.submit(singleBody(api.scenario.reference('open'), request)));
    await eventually(async () => {
      const [wallet] = await walletsOf('?currency=ZAR');
      expect(before - Number(wallet?.balance)).toBe(101);
    });
  });

  it('contract 10.8: 51: what is more than it, or in a currency without wallet, is refused', async () => {
    const reference = api.scenario.reference('too-much');
    const tooMuch = singleBody(reference, { 'beneficiary.amount': number('990099.02') });
    await eventually(async () =>
      expect(await api.submit(tooMuch)).toMatchObject({ status: 422, code: '51', data: undefined }),
    );
    expect((await api.lookUp(reference)).code).toBe('25');
    const key = await api.addMerchant('naira-only');
    const ghana = { country: 'Ghana', currency: 'GHS', 'beneficiary.bankCode': 'GHMTN' };
    expect(await api.submit(singleBody(reference, ghana), key)).toMatchObject({ status: 422, code: '51' });
  });
});

async function processorsOf(country: string) {
  const answer = await api.call({ path: `/api/v1/banks?country=${country}` });
  expect(answer).toMatchObject({ status: 200, code: '00' });
  return processors.parse(answer.data);
}

describe('contract 2.6, 4.5: payout processors', () => {
  it('are the same for a name, two and three letters (contract 10.5)', async () => {
    const listed = await processorsOf('KEN');
    expect(listed.length).toBeGreaterThan(0);
    expect(new Set(listed.map(({ country, currency }) => `${country} ${currency}`))).toEqual(
      new Set(['KEN KES']),
    );
    expect(await processorsOf('KE')).toEqual(listed);
    expect(await processorsOf('Kenya')).toEqual(listed);
    expect(await processorsOf('South%20Africa')).toEqual(await processorsOf('ZAF'));
  });

  it('their code is the bankCode of a payout', async () => {
    const usable = (await processorsOf('NGA')).filter((each) => each.active && !each.blockTransaction);
    const codes = new Set<string | undefined>();
    for (const { code } of usable) {
      const body = singleBody(api.scenario.reference(`bank-${code}`), { 'beneficiary.bankCode': code });
      codes.add((await api.submit(body)).code);
    }
    expect(codes).toEqual(new Set(['09']));
  });

  it.each(['', '?country=', '?country=%20', '?Country=KEN', '?country=%24ne', '?country[$ne]=KEN'])(
    'contract 10.5: 30: %j names no country',
    async (query) => {
      const answer = await api.call({ path: `/api/v1/banks${query}` });
      expect(answer).toMatchObject({ status: 400, code: '30', data: undefined });
      expect(answer.message).toContain('country');
    },
  );

  it.each(['Atlantis', 'QQQ', 'QQ', 'FRA'])(
    'country %s, unknown or not served, gives an empty list (contract 10.8)',
    async (country) => {
      expect(await processorsOf(country)).toEqual([]);
    },
  );

  it('are served on while the rail is down', async () => {
    const listed = await processorsOf('GHA');
    await api.scenario.stack.simulator.setFaults({ outage: true });
    try {
      expect(await processorsOf('GHA')).toEqual(listed);
    } finally {
      await api.scenario.stack.simulator.setFaults({ outage: null });
    }
  });
});

const account = { accountNumber: '0123459999', bankCode: '044', currency: 'NGN', country: 'Nigeria' };

const enquire = (body: string, key = api.demoKey) =>
  api.call({
    method: 'POST',
    path: '/api/v1/transactions/name-enquiry',
    key,
    headers: ['content-type', 'application/json'],
    body,
  });

describe('contract 2.7, 4.6: account name enquiry', () => {
  it('answers the holder, without responseCode', async () => {
    const answer = await enquire(JSON.stringify(account));
    expect(answer).toMatchObject({ status: 200, successful: true, code: undefined });
    expect(answer.text).not.toContain('responseCode');
    const { accountNumber, bankCode } = account;
    expect(holder.parse(answer.data)).toMatchObject({ accountNumber, bankCode });
  });

  it.each(Object.keys(account))('contract 10.8: 30: %s must be there, and text', async (field) => {
    for (const value of [undefined, null, '', 7, {}, []]) {
      const answer = await enquire(JSON.stringify({ ...account, [field]: value }));
      expect(answer).toMatchObject({ status: 400, code: '30', data: undefined });
      expect(answer.message).toContain(field);
    }
  });

  it.each([
    ['country', 'Atlantis', '30'],
    ['currency', 'QQQ', '30'],
    ['bankCode', '999999999', '92'],
    ['bankCode', '01', '92'],
  ])('%s %s is refused with %s (contract 10.8)', async (field, value, code) => {
    const answer = await enquire(JSON.stringify({ ...account, [field]: value }));
    expect(answer).toMatchObject({ code, successful: false, data: undefined });
  });

  it.each(['', '[]', 'null', '{'])('contract 10.8: 30: a body of %j', async (body) => {
    expect(await enquire(body)).toMatchObject({ status: 400, code: '30' });
  });

  it('contract 10.17: 65: has a limit of its own, with Retry-After', async () => {
    const limits = { requestsPerSecond: 1_000, nameEnquiriesPerMinute: 3 };
    const key = await api.addMerchant('curious', { limits });
    const body = JSON.stringify(account);
    const codes: (string | undefined)[] = [];
    for (let turn = 0; turn < 6; turn += 1) codes.push((await enquire(body, key)).code);
    expect(codes.slice(0, 3)).toEqual([undefined, undefined, undefined]);
    const refused = await enquire(body, key);
    expect(refused).toMatchObject({ status: 429, code: '65', data: undefined });
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(await walletsOf('', key)).toHaveLength(1);
  });

  it('contract 10.8: 91: the rail is down', async () => {
    await api.scenario.stack.simulator.setFaults({ outage: true });
    try {
      const answer = await enquire(JSON.stringify({ ...account, accountNumber: '0123458888' }));
      expect(answer).toMatchObject({ status: 503, code: '91', data: undefined });
    } finally {
      await api.scenario.stack.simulator.setFaults({ outage: null });
    }
  });
});
