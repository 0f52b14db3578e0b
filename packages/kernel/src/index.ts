export { appendBounded, type BoundedItem } from './bounded-list.ts';
export {
  type Clock,
  DAY_MS,
  DeadlineError,
  midnightMs,
  sleepless,
  steady,
  systemClock,
  withDeadline,
} from './clock.ts';
export { currencyExponent, isCurrency } from './currency.ts';
export { createIds, eventIdFrom, firstIdAt, type IdPrefix, type Ids, isId } from './ids.ts';
export { checkDecision, type ProposalRefusal, proposalExpiryMs } from './maker-checker.ts';
export { memoise, sharedReading } from './memoise.ts';
export {
  type AmountRefusal,
  amountProblem,
  displayAmount,
  type FeeSchedule,
  feeFor,
  formatAmount,
  MINOR_UNITS_MAX,
  type Money,
  type PositiveAmountRefusal,
  parseAmount,
  parsePositiveAmount,
} from './money.ts';
export { type Random, systemRandom } from './random.ts';
export { accept, type Result, refuse, unreachable } from './result.ts';
export { beginTrace, continueTrace } from './trace.ts';
