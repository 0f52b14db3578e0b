import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { takenChange } from './settings.fixture.ts';

describe('limits of a merchant', () => {
  it('are set with it', async () => {
    const line = commandLine([{ ...takenChange({ status: 'applied' }), status: 201 }]);
    const limits = [
      '--payout-max',
      'ghs:5000',
      '--day-max',
      'GHS:50000.5',
      '--name-enquiries-per-minute',
      '7',
    ];
    expect(await line.run('merchants', 'create', 'shop', '--name', 'Shop', ...limits)).toBe(0);
    expect(line.requests).toMatchObject([
      {
        url: 'http://ledger/merchants',
        body: {
          limits: { perPayoutMax: { GHS: '5000' }, perDayMax: { GHS: '50000.5' }, nameEnquiriesPerMinute: 7 },
        },
      },
    ]);
  });

  it('change as they are given, by currency, and what is not given is not asked for', async () => {
    const line = commandLine([takenChange()]);
    const limits = ['--payout-max', 'XOF:100', '--day-max', 'GHS:1', '--day-max', 'NGN:none'];
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).toBe(0);
    const [request] = line.requests as [{ readonly url: string; readonly body: object }];
    expect(request.url).toBe('http://ledger/merchants/demo/changes/limits');
    expect(JSON.parse(JSON.stringify(request.body))).toEqual({
      perPayoutMax: { XOF: '100' },
      perDayMax: { GHS: '1', NGN: null },
    });
  });

  it('hold for beneficiaries, smallest amounts and collections, too, and are taken away by none', async () => {
    const line = commandLine([takenChange()]);
    const limits = [
      ['--payout-min', 'GHS:1'],
      ['--beneficiary-day-max', 'GHS:20'],
      ['--payouts-per-beneficiary-per-day', 'none'],
      ['--collection-min', 'GHS:2'],
      ['--collection-max', 'GHS:none'],
      ['--collection-day-max', 'GHS:40'],
    ].flat();
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).toBe(0);
    expect(line.requests).toMatchObject([
      {
        body: {
          perPayoutMin: { GHS: '1' },
          perBeneficiaryPerDayMax: { GHS: '20' },
          payoutsPerBeneficiaryPerDay: null,
          perCollectionMin: { GHS: '2' },
          perCollectionMax: { GHS: null },
          collectionsPerDayMax: { GHS: '40' },
        },
      },
    ]);
  });

  it.each([
    [[], 'nothing to set: give a limit'],
    [['--collections-per-number-per-hour', '0'], '--collections-per-number-per-hour: 0 is no count'],
    [
      ['--day-max', 'GHS'],
      '--day-max: GHS is malformed: write currency:amount, such as GHS:5000, or GHS:none',
    ],
    [['--day-max', 'XOF:0.5'], '--day-max: 0.5 must have no decimals in XOF'],
  ])('%j are refused', async (limits, complaint) => {
    const line = commandLine();
    expect(await line.run('merchants', 'set-limits', 'demo', ...limits)).not.toBe(0);
    expect(line.complained()).toContain(complaint);
    expect(line.requests).toEqual([]);
  });
});
