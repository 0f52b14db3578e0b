export type * from './connector.ts';
export { type Exchange, ExchangeError, type ExchangeRequest, type ExchangeResponse } from './exchange.ts';
export { openRails, type Rails } from './rails.ts';
export { CALL_WITHIN_MS, mayStillCall, readResubmitGraceMs } from './resubmission.ts';
export { type RailSettings, railSettings } from './settings.ts';
export { createTokenBucket, type TokenBucket } from './token-bucket.ts';
