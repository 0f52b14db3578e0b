import type { Collection } from 'mongodb';
import type { PollDocument } from './poll-document.ts';

/** How long a read may take. */
const READ_TIMEOUT_MS = 1_000;

/**
 * The rails with payments to ask about, configured or not; found by seeking from one rail's keys to the next, however
 * many payments there are.
 */
export async function readWatched(polls: Collection<PollDocument>): Promise<readonly string[]> {
  const found = await polls.distinct('watch', { watch: { $gt: '' } }, { maxTimeMS: READ_TIMEOUT_MS });
  return found.filter((watch) => watch !== undefined);
}
