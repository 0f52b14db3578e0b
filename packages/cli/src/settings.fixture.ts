/** A change of settings as the ledger answers it: of a price, proposed by ama. */
export const priceChange = {
  id: 'sc-1',
  merchantId: 'demo',
  kind: 'wallet',
  fields: [
    { field: 'wallets.GHS.payoutFee.percent', from: '1', to: '1.5', currency: null },
    { field: 'wallets.GHS.payoutFee.max', from: null, to: '1234.5', currency: 'GHS' },
  ],
  reason: 'contract',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: '2026-01-02T03:04:05.000Z',
  expiresAt: '2026-01-09T03:04:05.000Z',
};

/** The same change, as kofi has approved it. */
export const appliedChange = {
  ...priceChange,
  status: 'applied',
  approvedBy: 'kofi',
  appliedAt: '2026-01-02T04:04:05.000Z',
};

/** The answer to who asks for a change. */
export const takenChange = (change: object = {}, made: object = {}) => ({
  status: 202,
  body: { ...priceChange, ...change, made },
});
