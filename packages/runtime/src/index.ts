export { type Action, setRecorder } from './actions.ts';
export { isCompressed, readBytes, readJsonBody, readJsonText } from './bodies.ts';
export { createBulkheads } from './bulkheads.ts';
export {
  ConfigError,
  configError,
  durationMsSetting,
  jsonSetting,
  messagingSettings,
  parseConfig,
  portSettings,
  publicPort,
  publicPortSettings,
  resolveFileVariables,
  serviceSettings,
  wholeNumberSetting,
} from './config.ts';
export { allowSlowAnswer } from './connection-limits.ts';
export {
  type ConnectionSettings,
  connectionProblems,
  connectionSettings,
  environmentSetting,
  secret,
} from './connection-settings.ts';
export { type CrashPoint } from './crash-points.ts';
export { createHealth, type Health } from './health.ts';
export { addErrorHandling, answerJson, jsonHeaders, logFailure, serveHttp } from './http.ts';
export { createLogger, type Logger } from './logger.ts';
export { readMediaType } from './media-type.ts';
export { createOperationsApp, guardOperator } from './operations.ts';
export { operatorRefusal } from './operator-requests.ts';
export { createOperators, mayBeOperator, type Operators } from './operators.ts';
export { createRequestMeter, instrumentRequests } from './requests.ts';
export { END_TIMEOUT_MS, runService, runServices } from './run.ts';
export {
  answer,
  foreignCursor,
  refusalsAs,
  refused,
  type ServedAnswer,
  type ServedRequest,
  serveOperations,
} from './serve-operations.ts';
export {
  defineService,
  type Environment,
  type RecoverOptions,
  type RunnableService,
  type ServiceScope,
} from './service.ts';
export type { Endable } from './shutdown.ts';
export {
  beginRound,
  currentTraceparent,
  inClientSpan,
  inRunSpan,
  inTraceOf,
  type ReportProcessed,
  recordApplied,
} from './spans.ts';
export { createThrottledLog } from './throttled-log.ts';
export { readUpload, UploadAbortedError, type UploadRate } from './uploads.ts';
