export { nextCommandId, pendingOf } from './adjustments.ts';
export {
  type Caller,
  createCaller,
  type OperationsAnswer,
  type OperationsExchange,
  readBody,
  requireAccepted,
} from './call.ts';
export { ClientError, messageOf, RefusedError } from './errors.ts';
export { createTimelines, type Timeline } from './fetch-timeline.ts';
export { exchangeHttp, parseAnswer, silence } from './http.ts';
export { describeAccount, describeMovement, inWords } from './labels.ts';
export { mergeTimeline } from './merge-timeline.ts';
export { describeOrder } from './orders.ts';
export { type Count, createWaiting, type Waiting } from './waiting.ts';
