export type { TopicEnd } from '@pesewa/kafka';
export type { Claimable, ClaimRateLimit, Tokens } from './claims/claim.ts';
export { type ClaimLoop, type RecordOutcome, startClaimLoop } from './claims/claim-loop.ts';
export { ERASURES, type Erasure, openEraser, startEraser } from './claims/eraser.ts';
export { endLease, leasesOf, takeLease } from './claims/lease.ts';
export { CLOCK_SKEW_MAX_MS } from './database/clock-guard.ts';
export { afterCursor, nextCursor } from './database/cursor-pagination.ts';
export { type Database, documentBytes, isDuplicateKey, LATEST, openDatabase } from './database/mongo.ts';
export { type CollectionSchema, ensureDatabaseSchema } from './database/schema.ts';
export { createWriter } from './database/transaction.ts';
export { offsetsOf } from './inbox/offsets.ts';
export { RECOVER } from './inbox/position.ts';
export { PartitionStoppedError } from './inbox/stopped-partitions.ts';
export {
  type BatchTransaction,
  type EventHandling,
  type HandledEvent,
  handleTopic,
  type Received,
  type TopicHandler,
} from './inbox/topic-handler.ts';
export type { HistoricalEvent } from './inbox/topic-history.ts';
export { type Loop, startLoop } from './loop.ts';
export { type Messaging, openMessaging, openMessagingAs } from './messaging.ts';
export { countWaiting } from './operators/health-routes.ts';
export { type Recovery, recoverDatabase } from './operators/recovery.ts';
export type { GroupCommit } from './outbox/group-commit.ts';
export { type Cause, idOf, type OutgoingEvent, outboxOf, type Transaction } from './outbox/outbox.ts';
export { databaseTasks, prepareTopics } from './prepare.ts';
export { openCodec, registerSchemas } from './schemas/codec.ts';
