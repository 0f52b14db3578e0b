export { type Answered, type CallRail, createCall } from './call.ts';
export { CALL_TIMEOUT_MS, CALL_WITHIN_MS, mayStillCall, readResubmitGraceMs } from './call-deadlines.ts';
export { createCallbackVerifier } from './callback-verification.ts';
export { connectors, railSettings, railSettingsOf } from './connectors.ts';
export { type ConnectorDefinition, defineConnector, type RailSettings } from './define-connector.ts';
export {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './http-transport.ts';
export * from './rail.ts';
export { readRailText } from './rail-text.ts';
export { openRails, type Rails } from './rails.ts';
export { commonShape, httpUrl, noCollections, payoutShape } from './settings.ts';
export { reasonLine } from './text.ts';
export { createTokenBucket, type TokenBucket } from './token-bucket.ts';
export { upstreamRail } from './upstream/upstream.ts';
