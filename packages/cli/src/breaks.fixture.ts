import type { BreakView } from '@pesewa/contracts';

/** What both sides have of a break of which nothing is known. */
export const unknownSides = { ours: null, theirs: null, lines: [], floatChange: null, waitsFor: null };

/** A break as the reconciler lists it. */
export const breakRow = (more: Partial<BreakView> = {}): BreakView => ({
  id: 'po-1/status',
  kind: 'payment.stuck',
  reference: 'po-1',
  rail: 'upstream',
  status: 'open',
  currency: 'KES',
  amount: '1',
  detail: 'no end',
  owner: null,
  explanation: null,
  openedAt: '2026-11-01T08:00:00.000Z',
  since: '2026-11-01T08:00:00.000Z',
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  version: 1,
  ...more,
});
