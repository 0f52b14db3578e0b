import { createHash } from 'node:crypto';
import { type AdjustmentView, type BreakDetailView, breakChanges } from '@pesewa/contracts';
import type { Caller } from './call.ts';
import { RefusedError } from './errors.ts';
import type { OrderRequest } from './foresee-order.ts';

/** The id of the next order for a break; it stays the same until one of its adjustments is added. */
export function nextCommandId({ id, adjustments }: Pick<BreakDetailView, 'id' | 'adjustments'>): string {
  const digest = createHash('sha256').update(`${id}\n${adjustments.length}`).digest('hex');
  return `bk-${digest.slice(0, 24)}`;
}

/** The adjustment that waits for the second operator, if any. */
export function pendingOf({ adjustments }: Pick<BreakDetailView, 'adjustments'>): AdjustmentView | undefined {
  return adjustments.find(({ status }) => status === 'proposed');
}

/** The order that corrects a wallet or a float against suspense by an amount, given in minor units and as text without a sign. */
export function correctionOf(
  account: OrderRequest['account'],
  currency: string,
  { minor, text }: { readonly minor: bigint; readonly text: string },
): OrderRequest {
  const isGain = minor > 0n;
  const money = { account, currency, amount: text, change: minor };
  return 'merchantId' in account
    ? { kind: 'adjust', ...money, direction: isGain ? 'credit' : 'debit' }
    : { kind: 'suspense', ...money, direction: isGain ? 'surplus' : 'shortage' };
}

/** Why a correction has the wrong sign: it would make the drift of its own break larger. */
export function whyWrongSign(
  { kind: breakKind, amount }: Pick<BreakDetailView, 'kind' | 'amount'>,
  { kind, change }: OrderRequest,
): string | undefined {
  if (kind !== 'suspense' || breakKind !== 'wallet.drift' || amount === null) return undefined;
  const isLess = amount.startsWith('-');
  if (isLess === change < 0n) return undefined;
  return `the rail has ${isLess ? 'less' : 'more'} than our float, so this makes the drift larger: write it with a ${isLess ? '-' : '+'}`;
}

/** The reason of an order for a break; the ledger takes at most 200 characters. */
export const reasonForBreak = (why: string, id: string): string => `${why} (break ${id})`;

/**
 * Notes an order at its break, then places it: an order that no break knows would move money without anybody expecting
 * it. If the ledger refuses the order itself, the break waits for nothing.
 */
export async function placeAdjustment<Placed>(
  { call }: Pick<Caller, 'call'>,
  id: string,
  given: {
    readonly commandId: string;
    readonly request: OrderRequest;
    readonly explanation: string;
    /** The version of the break that the operator has seen. */
    readonly version?: number;
  },
  place: () => Promise<Placed>,
): Promise<Placed> {
  const { commandId, request, explanation, version } = given;
  const { account, currency, amount, change } = request;
  const terms = {
    ...account,
    commandId,
    currency,
    amount: `${change < 0n ? '-' : '+'}${amount}`,
    explanation,
  };
  const body = { ...terms, ...(version !== undefined && { version }) };
  await call('reconciler', breakChanges.adjustment, { parameters: { id }, body });
  try {
    return await place();
  } catch (error) {
    if (error instanceof RefusedError && wasNeverOrdered(error))
      await call('reconciler', breakChanges.withdraw, { parameters: { id }, body: { commandId } });
    throw error;
  }
}

/** Any other conflict may be with this same order, sent before. */
function wasNeverOrdered({ status, code }: RefusedError): boolean {
  return status === 400 || status === 404 || code.startsWith('unknown_');
}
