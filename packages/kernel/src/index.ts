export { type Clock, systemClock } from './clock.ts';
export { currencyExponent, isCurrency } from './currency.ts';
export type { Decider } from './decider.ts';
export { type FeeSchedule, feeFor } from './fees.ts';
export { createIds, type IdPrefix, type Ids } from './ids.ts';
export { type AmountRefusal, formatAmount, MINOR_UNITS_MAX, type Money, parseAmount } from './money.ts';
export { type Random, systemRandom } from './random.ts';
export { accept, type Result, refuse } from './result.ts';
export { unreachable } from './unreachable.ts';
