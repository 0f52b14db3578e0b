import type { Collection } from 'mongodb';
import type { PollDocument } from './store.ts';

/** A look may take so long. */
const READ_TIMEOUT_MS = 1_000;

/** Whom there is anything to ask of, configured or not: jumps from one rail's keys to the next one's, however many there are. */
export async function readWatched(polls: Collection<PollDocument>): Promise<readonly string[]> {
  const found = await polls.distinct('watch', { watch: { $gt: '' } }, { maxTimeMS: READ_TIMEOUT_MS });
  return found.filter((watch) => watch !== undefined);
}
