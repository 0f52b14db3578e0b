import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { describe, expect, it } from 'vitest';
import { CALL_TIMEOUT_MS, openRails, railSettings } from './index.ts';
import { answering, createTestClock, minimalSettings } from './rails.fixture.ts';

const read = (rails: unknown) => railSettings.safeParse(JSON.stringify(rails));
const problems = (rails: unknown) =>
  (read(rails).error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`);

describe('the settings of the rails', () => {
  it('need no more than where the rail is and who we are', () => {
    const [rail] = railSettings.parse(JSON.stringify([minimalSettings]));
    expect(rail).toMatchObject({
      transferUrl: 'http://rail.test/transfer',
      timeoutMs: 10_000,
      callbacks: 'hint',
      payoutFee: { fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n },
      collectionFee: { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n },
    });
  });

  it('leave half of the limits to payments where nothing is said of polls', () => {
    const polling = (settings: object) => {
      const [rail] = railSettings.parse(JSON.stringify([{ ...minimalSettings, ...settings }]));
      return [rail?.pollsPerSecondMax, rail?.pollConcurrencyMax];
    };
    expect(polling({})).toEqual([250, 32]);
    expect(polling({ requestsPerSecondMax: 1, concurrencyMax: 1 })).toEqual([1, 1]);
    expect(polling({ pollsPerSecondMax: 0.5, pollConcurrencyMax: 2 })).toEqual([0.5, 2]);
    const tooMuch = { ...minimalSettings, pollsPerSecondMax: 501, pollConcurrencyMax: 65 };
    expect(problems([tooMuch])).toEqual([
      '0.pollsPerSecondMax: is more than requestsPerSecondMax',
      '0.pollConcurrencyMax: is more than concurrencyMax',
    ]);
  });

  it('take a fee as basis points or as a schedule', () => {
    const payoutFee = { basisPoints: 25, fixedMinor: 5, maximumMinor: 500 };
    const [rail] = railSettings.parse(JSON.stringify([{ ...minimalSettings, payoutFee, collectionFee: 75 }]));
    expect(rail).toHaveProperty('payoutFee', {
      basisPoints: 25n,
      fixedMinor: 5n,
      minimumMinor: 0n,
      maximumMinor: 500n,
    });
    expect(rail).toHaveProperty('collectionFee', { basisPoints: 75n, fixedMinor: 0n, minimumMinor: 0n });
  });

  it('report every problem at once', () => {
    const wrong = {
      ...minimalSettings,
      name: 'Upstream',
      transferUrl: 'ftp://rail.test',
      timeoutMs: 0.5,
      surprise: true,
      payouts: [{ country: 'KE', currency: 'ZZZ' }],
      operatorCodes: ['NOPE'],
      callbackAddresses: ['203.0.113.0/24', '203.0.113.0/33'],
      callbackSecrets: ['secret'],
    };
    expect(problems([wrong]).map((problem) => problem.split(':')[0])).toEqual(
      expect.arrayContaining([
        '0.name',
        '0.transferUrl',
        '0.timeoutMs',
        '0.payouts.0.country',
        '0.payouts.0.currency',
        '0.operatorCodes.0',
        '0.callbackAddresses.1',
        '0.callbackSecrets.0',
        '0',
      ]),
    );
  });

  it('refuse a time-out that an ordered end does not wait for, with the field and its bound', () => {
    const within = (timeoutMs: number) => problems([{ ...minimalSettings, timeoutMs }]);
    expect(within(15_000)).toEqual([]);
    expect(within(15_001)).toEqual([
      '0.timeoutMs: must be at most 15000: within the 20000 ms that an ending process waits for a call, its outcome has to be recorded too',
    ]);
    const [longest] = openRails(
      railSettings.parse(JSON.stringify([{ ...minimalSettings, timeoutMs: 15_000 }])),
      {
        clock: createTestClock(),
        transport: answering(200, ''),
      },
    ).all;
    expect(longest?.capabilities.callDeadlineMs).toBeLessThan(CALL_TIMEOUT_MS);
    expect(CALL_TIMEOUT_MS).toBeLessThan(END_TIMEOUT_MS);
  });

  it('name an address that is none', () => {
    const settings = { ...minimalSettings, callbackAddresses: ['203.0.113.0/33'] };
    expect(problems([settings])).toEqual([expect.stringContaining('203.0.113.0/33')]);
  });

  it('refuse a callback secret that stands twice, in a rail or in two, and show it nowhere', () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const unpadded = secret.replace(/=+$/, '');
    const first = { ...minimalSettings, callbackSecrets: [secret] };
    const second = { ...minimalSettings, name: 'second', callbackSecrets: [unpadded] };
    const found = problems([first, second]);
    expect(found).toEqual([expect.stringContaining('1.callbackSecrets.0: is the secret of another place')]);
    expect(JSON.stringify(found)).not.toContain(unpadded);
    expect(problems([{ ...minimalSettings, callbackSecrets: [secret, secret] }])).toEqual([
      expect.stringContaining('0.callbackSecrets.1'),
    ]);
    expect(problems([first, { ...minimalSettings, name: 'second' }])).toEqual([]);
  });

  it('don’t quote what was put in an address’s place by mistake', () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    for (const slip of [secret, 'deadbeef'.repeat(8), `${secret}/24`]) {
      const found = problems([{ ...minimalSettings, callbackAddresses: ['203.0.113.7', slip] }]);
      expect(found).toEqual([expect.stringContaining('0.callbackAddresses.1: must be an address')]);
      expect(found.join()).not.toContain(slip);
    }
  });

  it.each([
    ['no JSON', '[', 'must be JSON'],
    ['no rail', '[]', 'at least one'],
    ['one name twice', JSON.stringify([minimalSettings, minimalSettings]), 'twice'],
    ['proof without a secret', JSON.stringify([{ ...minimalSettings, callbacks: 'proven' }]), 'proven'],
  ])('refuse %s', (_, text, message) => {
    expect(railSettings.safeParse(text).error?.issues[0]?.message).toContain(message);
  });
});

describe('routing', () => {
  const first = {
    ...minimalSettings,
    name: 'first',
    payouts: [{ country: 'KEN', currency: 'KES', channels: ['Mobile Money'] }],
    operatorCodes: ['KESAF'],
  };
  const second = { ...minimalSettings, name: 'second' };
  const rails = openRails(railSettings.parse(JSON.stringify([first, second])), {
    clock: createTestClock(),
    transport: answering(200, ''),
  });

  it.each([
    ['KEN', 'KES', 'Mobile Money', ['first', 'second']],
    ['KEN', 'KES', 'Bank Transfer', ['second']],
    ['KEN', 'KES', undefined, ['first', 'second']],
    ['GHA', 'GHS', 'Mobile Money', ['second']],
    ['GHA', 'KES', 'Mobile Money', []],
    ['FRA', 'EUR', 'Bank Transfer', []],
  ] as const)('a payout to %s in %s by %s can go through %j', (country, currency, channel, names) => {
    expect(rails.railsFor({ country, currency, channel }).map(({ name }) => name)).toEqual(names);
  });

  it.each([
    ['KESAF', 'first'],
    ['GHMTN', 'second'],
    ['NOPE', undefined],
  ])('a collection by %s goes through %s', (operatorCode, name) => {
    expect(rails.routeCollection({ operatorCode })?.name).toBe(name);
  });

  it('finds a rail by its name', () => {
    expect(rails.all.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(rails.get('second')?.name).toBe('second');
    expect(rails.get('third')).toBeUndefined();
  });
});
