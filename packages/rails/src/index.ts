export type * from './connector.ts';
export { type Exchange, ExchangeError, type ExchangeRequest, type ExchangeResponse } from './exchange.ts';
export { openRails, type Rails } from './rails.ts';
export { mayStillCall, readResubmitGraceMs } from './resubmission.ts';
export { type RailSettings, railSettings } from './settings.ts';
