export { describeParked, describeRealignment, describeScope } from './actions.ts';
export {
  correctionId,
  correctionOf,
  ordersFor,
  pendingOf,
  whyTwice,
  whyUncorrectable,
  whyWrongSign,
} from './adjustments.ts';
export { describeLength, describeRate, endedOf } from './availability.ts';
export {
  type Caller,
  createCaller,
  type OperationsAnswer,
  type OperationsExchange,
  readBody,
  requireAccepted,
} from './call.ts';
export { dayAt, nextDay, showTime, startOfDay, UTC } from './days.ts';
export { breakToDecide } from './decidable-breaks.ts';
export { consequenceOf, groundsOf } from './decisions.ts';
export { describeDrift, isUnexplained } from './drift.ts';
export { ClientError, messageOf, RefusedError } from './errors.ts';
export { createTimelines, type Timeline } from './fetch-timeline.ts';
export { foreseeOrder, type OrderRequest, readWallet } from './foresee-order.ts';
export { exchangeHttp, parseAnswer, requestHttp, silence } from './http.ts';
export { describeAccount, describeMovement, inWords, statedAccount } from './labels.ts';
export { CLOSE_MATCHES, describeLines, whyUnmatched } from './matching.ts';
export { mergeTimeline, type TimelineLine } from './merge-timeline.ts';
export { describeOrder, takesAway } from './orders.ts';
export { type FileSender, sendFile } from './send-file.ts';
export { settingLabel, settingText } from './settings.ts';
export { describeConnection, describeTest } from './test-webhooks.ts';
export { type CurrencySums, minorOf, sumsByCurrency, type TrialLine } from './trial-balance.ts';
