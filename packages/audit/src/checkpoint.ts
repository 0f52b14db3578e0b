import { deserialize, serialize } from 'node:v8';
import type { AuditState } from './audit.ts';
import type { Watermarks } from './cross-check.ts';
import type { IdSumState } from './id-sum.ts';

/** Keeps what was verified, in a place that those who can write the databases can't write. */
export interface CheckpointStore {
  /** The checkpoint that was written last; undefined if there is none. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Replaces it durably, completely or not at all. */
  readonly write: (checkpoint: Uint8Array) => Promise<void>;
}

/** What was verified, without any violation. */
export interface Checkpoint {
  readonly state: AuditState;
  /** The moment of the database that the state was not newer than. */
  readonly clusterTime: bigint;
  /** The ids of the postings on the pages, while a whole audit is not finished. */
  readonly placed?: IdSumState | undefined;
  /** The payments before these are at rest and agree with their entries; absent until all were compared. */
  readonly watermarks?: Watermarks | undefined;
}

const FORMAT = 1;

/** Writes a checkpoint; object identities, whole numbers and bytes stay what they are. */
export function encodeCheckpoint(checkpoint: Checkpoint): Uint8Array {
  return serialize({ ...checkpoint, format: FORMAT });
}

/** Reads a checkpoint. Throws a {@link CheckpointError} if it is none. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint {
  let found: unknown;
  try {
    found = deserialize(bytes);
  } catch (cause) {
    throw new CheckpointError('the checkpoint is damaged', { cause });
  }
  if (typeof found === 'object' && found !== null && 'format' in found && found.format === FORMAT)
    return found as unknown as Checkpoint;
  throw new CheckpointError('the checkpoint is of another format');
}

/** A checkpoint can't be gone on from. */
export class CheckpointError extends Error {}
