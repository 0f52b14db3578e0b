import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

describe('limits of a merchant', () => {
  it('are set with it', async () => {
    const line = commandLine();
    const limits = [
      '--payout-max',
      'ghs:5000',
      '--day-max',
      'GHS:50000.5',
      '--name-enquiries-per-minute',
      '7',
    ];
    expect(await line.run('merchants', 'create', 'shop', '--name', 'Shop', ...limits)).toBe(0);
    expect(line.changes).toMatchObject([
      [
        'createMerchant',
        {
          limits: {
            requestsPerSecond: 100,
            perPayoutMaxMinor: { GHS: 500_000n },
            perDayMaxMinor: { GHS: 5_000_050n },
            nameEnquiriesPerMinute: 7,
          },
        },
      ],
    ]);
  });

  it('change as they are given, by currency, and what is not given stays', async () => {
    const line = commandLine();
    const limits = ['--payout-max', 'XOF:100', '--day-max', 'GHS:1', '--day-max', 'NGN:2'];
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).toBe(0);
    expect(line.changes).toEqual([
      [
        'setLimits',
        'demo',
        {
          requestsPerSecond: 50,
          perPayoutMaxMinor: { GHS: 9_007_199_254_740_993n, XOF: 100n },
          perDayMaxMinor: { GHS: 100n, NGN: 200n },
        },
      ],
    ]);
  });

  it('hold for how often one number is asked, too', async () => {
    const line = commandLine();
    const limits = ['--collections-per-number-per-hour', '25'];
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).toBe(0);
    expect(line.changes).toMatchObject([['setLimits', 'demo', { collectionsPerNumberPerHour: 25 }]]);
    const none = commandLine();
    const zero = ['--collections-per-number-per-hour', '0'];
    expect(await none.run('merchants', 'set-limits', 'demo', ...zero)).not.toBe(0);
    expect(none.changes).toEqual([]);
  });

  it('are taken away by none', async () => {
    const line = commandLine();
    expect(await line.run('merchants', 'set-limits', 'demo', '--payout-max', 'GHS:none')).toBe(0);
    expect(line.changes).toEqual([['setLimits', 'demo', { requestsPerSecond: 50 }]]);
  });

  it.each([
    [[], 'nothing to set: give a limit'],
    [
      ['--day-max', 'GHS'],
      '--day-max: GHS is malformed: write currency:amount, such as GHS:5000, or GHS:none',
    ],
    [
      ['--day-max', 'XOF:0.5'],
      '--day-max: 0.5 is no amount: write a decimal number no finer than XOF allows',
    ],
  ])('%j are refused', async (limits, complaint) => {
    const line = commandLine();
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).not.toBe(0);
    expect(line.complained()).toContain(complaint);
    expect(line.changes).toEqual([]);
  });
});
