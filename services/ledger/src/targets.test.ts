import type { Merchant } from '@pesewa/directory';
import { describe, expect, it } from 'vitest';
import type { OperatorRequest } from './domain/orders.ts';
import { createTargets } from './targets.ts';

/** Matches any text with this part. */
const containing = (part: string): unknown => expect.stringContaining(part);

const fee = { fixedMinor: 0n, basisPoints: 0n, minimumMinor: 0n };
const demo: Merchant = {
  id: 'demo',
  name: 'Demo',
  status: 'suspended',
  keys: [],
  allowedAddresses: [],
  signing: { isRequired: false, secrets: [] },
  wallets: [{ currency: 'KES', country: 'KEN', payoutFee: fee, collectionFee: fee }],
  webhooks: { payoutsUrl: null, collectionsUrl: null, secrets: [] },
  limits: { requestsPerSecond: 1 },
  createdAt: new Date(0),
};

const directory = { find: async (id: string) => (id === 'demo' ? demo : undefined) };
const money = { currency: 'KES', amount: 1n };
const because = { reason: 'x' } as const;

describe('the target of an order', () => {
  const { whyUnknown } = createTargets({ directory, railNames: ['upstream', 'bank'] });

  it.each<OperatorRequest>([
    { ...money, kind: 'fund', target: 'demo' },
    { ...money, kind: 'withdraw', target: 'demo' },
    { ...money, ...because, kind: 'adjust', direction: 'debit', target: 'demo' },
    { ...money, kind: 'fundFloat', target: 'upstream' },
    { ...money, ...because, kind: 'suspense', direction: 'surplus', target: 'bank' },
  ])('is known where it exists: $kind of $target', async (request) => {
    expect(await whyUnknown(request)).toBeUndefined();
  });

  it.each<readonly [string, string, OperatorRequest]>([
    ['unknown_merchant', 'as in the list of merchants', { ...money, kind: 'fund', target: 'dmeo' }],
    ['unknown_merchant', 'as in the list of merchants', { ...money, kind: 'fund', target: 'upstream' }],
    [
      'unknown_wallet',
      'add one to its settings',
      { ...money, kind: 'withdraw', target: 'demo', currency: 'GHS' },
    ],
    ['unknown_rail', 'the rails are upstream, bank', { ...money, kind: 'fundFloat', target: 'upstraem' }],
    ['unknown_rail', 'RAIL_NAMES', { ...money, kind: 'withdrawFloat', target: 'demo' }],
  ])('is refused with the remedy where it is mistyped: %s, %s', async (code, remedy, request) => {
    expect(await whyUnknown(request)).toEqual({ code, message: containing(remedy) });
  });

  it('may be any rail where none are named', async () => {
    const any = createTargets({ directory, railNames: [] });
    expect(await any.whyUnknown({ ...money, kind: 'fundFloat', target: 'upstraem' })).toBeUndefined();
  });
});
