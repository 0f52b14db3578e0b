import { type AdjustmentView, type BreakDetailView, type BreakView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Adjustment } from '../domain/adjustments.ts';
import { type Break, type BreakChange, proposedResolutionOf, statusOf } from '../domain/break.ts';

/** A break as operators see it in lists: amounts in signed decimal text, times in UTC. */
export function viewBreak(one: Break): BreakView {
  const proposed = proposedResolutionOf(one);
  return {
    id: one._id,
    kind: one.kind,
    reference: one.reference,
    rail: one.rail ?? null,
    status: statusOf(one),
    currency: one.currency,
    amount: text(one.amount, one.currency),
    detail: one.detail,
    owner: one.owner ?? null,
    explanation: one.explanation ?? null,
    openedAt: one.openedAt.toISOString(),
    since: one.since.toISOString(),
    resolvedAt: one.resolvedAt?.toISOString() ?? null,
    resolution: one.resolution ?? null,
    resolvedBy: one.resolvedBy ?? null,
    version: one.version,
    ...(proposed && { proposedResolution: { ...proposed, at: proposed.at.toISOString() } }),
  };
}

/** One break with its history, its adjustments, and links to everything else known about it. */
export function viewBreakDetail(one: Break): BreakDetailView {
  return {
    ...viewBreak(one),
    observations: one.observations.map(({ observer, kind, amount, detail, at, currency }) => ({
      observer,
      kind,
      amount: text(amount, currency),
      detail,
      at: at.toISOString(),
    })),
    resolutionProposedBy: one.resolutionProposedBy ?? null,
    adjustments: (one.adjustments ?? []).map(viewAdjustment),
    history: one.history.map((change) => viewChange(change, one.currency)),
    links: linksOf(one),
  };
}

function viewAdjustment({
  commandId,
  kind,
  target,
  currency,
  minor,
  by,
  at,
  status,
  concludedAt,
}: Adjustment): AdjustmentView {
  return {
    commandId,
    kind,
    ...(kind === 'adjust' ? { merchantId: target } : { rail: target }),
    currency,
    amount: formatAmount(minor, currency),
    proposedBy: by,
    proposedAt: at.toISOString(),
    status,
    concludedAt: concludedAt?.toISOString() ?? null,
  };
}

function viewChange({ at, by, what, text: said, amount = null }: BreakChange, currency: string | null) {
  return { at: at.toISOString(), by, what, text: said ?? null, amount: text(amount, currency) };
}

function text(amount: bigint | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : formatAmount(amount, currency);
}

/**
 * Paths of the services' operator APIs (ADR 60); a service that does not know the payment answers an empty list, or
 * 404.
 */
function linksOf(one: Break) {
  const orders = (one.adjustments ?? []).map(({ commandId }) => ({
    service: 'ledger',
    path: `/commands/${encodeURIComponent(commandId)}`,
  }));
  return [...subjectLinks(one), ...orders];
}

function subjectLinks(one: Break) {
  return one.field === 'balance' ? walletLinks(one) : paymentLinks(one);
}

function walletLinks({ reference, rail, currency }: Break) {
  const [ofRail = '', ofCurrency = ''] = reference.split(':');
  const query = new URLSearchParams({ rail: rail ?? ofRail, currency: currency ?? ofCurrency });
  return [{ service: 'reconciler', path: `/runs?${query.toString()}` }];
}

function paymentLinks({ reference }: Break) {
  const about = new URLSearchParams({ reference }).toString();
  const link = (service: string, path: string) => ({ service, path: `${path}?${about}` });
  return [
    link('reconciler', '/timeline'),
    link('reconciler', '/breaks'),
    link('reconciler', '/decisions'),
    link(reference.startsWith('co-') ? 'collection-gateway' : 'payout-gateway', '/payments'),
    link('ledger', '/entries'),
    link('webhook-ingress', '/callbacks'),
    link('webhook-dispatcher', '/deliveries'),
  ];
}
