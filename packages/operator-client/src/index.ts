export { describeParked, describeRealignment, describeScope } from './actions.ts';
export { nextCommandId, pendingOf } from './adjustments.ts';
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
export { describeDrift, describeOverdue, isUnexplained } from './drift.ts';
export { ClientError, messageOf, RefusedError } from './errors.ts';
export { createTimelines, type Timeline } from './fetch-timeline.ts';
export { exchangeHttp, parseAnswer, silence } from './http.ts';
export { describeAccount, describeMovement, inWords, statedAccount } from './labels.ts';
export { CLOSE_MATCHES, describeLines, whyUnmatched } from './matching.ts';
export { mergeTimeline, type TimelineLine } from './merge-timeline.ts';
export { describeOrder } from './orders.ts';
export { type FileSender, sendFile } from './send-file.ts';
export { describeTest } from './test-webhooks.ts';
export { type Count, createWaiting, type Waiting } from './waiting.ts';
