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
