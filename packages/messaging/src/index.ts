export type { TopicEnd } from '@pesewa/kafka';
export type { Claimable, ClaimRateLimit } from './claim.ts';
export { startClaimLoop } from './claim-loop.ts';
export { CLOCK_SKEW_MAX_MS } from './clock-guard.ts';
export { type Codec, openCodec, registerSchemas, UndecodableError } from './codec.ts';
export { type CollectionSchema, ensureCollections } from './collections.ts';
export { type Erasure, type Erasures, openErasers, startEraser } from './eraser.ts';
export type { GroupCommit } from './group-commit.ts';
export { leasesOf, takeLease } from './lease.ts';
export { type Loop, startLoop } from './loop.ts';
export { type Messaging, openMessaging, openMessagingAs } from './messaging.ts';
export { type Database, isDuplicateKey, openDatabase } from './mongo.ts';
export { afterCursor, nextCursor } from './newest-first.ts';
export { offsetsOf } from './offsets.ts';
export { idOf, type Occasion, type OutgoingEvent, outboxOf, type Transaction } from './outbox.ts';
export type { PastEvent } from './past.ts';
export { prepareDatabase, prepareTopics } from './prepare.ts';
export {
  type BatchTransaction,
  type EventHandling,
  type HandledEvent,
  handleTopic,
  type Received,
  type TopicHandler,
} from './received.ts';
export type { Recovery } from './recovery.ts';
export { type RegistrySettings, registryConnection } from './registry.ts';
export { PartitionStoppedError } from './stopped-partitions.ts';
export { createWriter } from './writer.ts';
