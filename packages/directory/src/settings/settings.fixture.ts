import { type ChangeKind, keyScopes, type Wanted } from '@pesewa/contracts';
import type { Random } from '@pesewa/kernel';
import type { Merchant } from '../merchant.ts';
import { settingsKinds } from './kinds.ts';

/** Chance that is always the same. */
const sameBytes: Pick<Random, 'bytes'> = { bytes: (length) => new Uint8Array(length).fill(7) };

/** Chance and time that are always the same. */
export const sources = { random: sameBytes, nowMs: 5 };

/** A merchant with one wallet. */
export const demo: Merchant = {
  id: 'demo',
  name: 'Demo',
  status: 'active',
  keys: [{ hash: 'ab'.repeat(32), scopes: [...keyScopes], createdAt: new Date(0) }],
  allowedAddresses: [],
  signing: { isRequired: false, secrets: [] },
  wallets: [
    {
      currency: 'GHS',
      country: 'GHA',
      payoutFee: { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n },
      collectionFee: { fixedMinor: 0n, basisPoints: 150n, minimumMinor: 10n, maximumMinor: 500_000n },
    },
  ],
  webhooks: {
    payoutsUrl: 'https://shop.example/payouts',
    collectionsUrl: null,
    secrets: [`whsec_${'s'.repeat(40)}`],
  },
  limits: { requestsPerSecond: 50, perPayoutMaxMinor: { GHS: 500_000n } },
  createdAt: new Date(0),
};

/** What a change makes of the merchant, as it would be stored and applied; or why it does not. */
export function changed<Kind extends Exclude<ChangeKind, 'create'>>(
  kind: Kind,
  wanted: Wanted<Kind>,
  merchant = demo,
) {
  const prepared = settingsKinds[kind].prepare(wanted, sources);
  if (!prepared.ok) return prepared;
  return settingsKinds[kind].apply(merchant, prepared.value.payload, sources.nowMs);
}
