import type { OrderView } from '@pesewa/contracts';
import { displayAmount, unreachable } from '@pesewa/kernel';
import { describeAccount } from './labels.ts';

/** What an order does, such as `2,500.00 GHS from the treasury into the GHS float at upstream`. */
export function describeOrder(
  view: Pick<OrderView, 'kind' | 'merchantId' | 'rail' | 'direction' | 'amount' | 'currency'>,
): string {
  const { kind, direction, amount, currency, merchantId, rail = '?' } = view;
  const name = merchantId === undefined ? `float:${rail}` : `wallet:${merchantId}`;
  const account = `the ${describeAccount(`${name}:${currency}`)}`;
  const money = displayAmount(amount, currency);
  switch (kind) {
    case 'fund':
      return `${money} received by the treasury, into ${account}`;
    case 'withdraw':
      return `${money} out of ${account}, paid by the treasury`;
    case 'fund-float':
      return `${money} from the treasury into ${account}`;
    case 'withdraw-float':
      return `${money} out of ${account} to the treasury`;
    case 'adjust':
      return direction === 'debit'
        ? `${money} out of ${account} to suspense`
        : `${money} from suspense into ${account}`;
    case 'suspense':
      return direction === 'shortage'
        ? `${money} that the rail lacks, from suspense out of ${account}`
        : `${money} that nothing explains, into ${account} and suspense`;
    default:
      return unreachable(kind);
  }
}

/** Whether an order lowers the balance of its account. */
export function takesAway({ kind, direction }: Pick<OrderView, 'kind' | 'direction'>): boolean {
  return kind.startsWith('withdraw') || direction === 'debit' || direction === 'shortage';
}

/** Whether an order may still move money, or has; of the others nothing is heard any more. */
export function mayBeBooked(
  { status, expiresAt }: Pick<OrderView, 'status' | 'expiresAt'>,
  nowMs: number,
): boolean {
  if (status === 'proposed') return expiresAt === undefined || nowMs < Date.parse(expiresAt);
  return status === 'approved' || status === 'applied';
}
