import type { Clock } from '@pesewa/kernel';
import type { ClientSession } from 'mongodb';
import type { Findings, Invariant } from './findings.ts';

/** How a record and its entries differ. The ledger may still be behind, so they are read again before it counts. */
export type Disagreement = readonly [Invariant, string];

/** The records that differ from their entries, by reference. */
export type Suspects = ReadonlyMap<string, readonly Disagreement[]>;

/** What a check of records against their entries needs. */
export interface CheckDeps {
  readonly session: ClientSession;
  readonly findings: Findings;
  readonly clock: Clock;
  readonly allowedLagMs: number;
}

const PAUSE_MS = 250;
const SUSPECTS_MAX = 5_000;

/** How many records are read and judged at once. */
export const RECORDS_PER_READ = 1_000;

/** Judges all records of a stream, and settles those that differ from their entries. */
export async function recheckAll<Item>(
  records: AsyncIterable<Item>,
  suspectsOf: (some: readonly Item[]) => Promise<Suspects>,
  again: (references: readonly string[]) => Promise<Suspects>,
  deps: CheckDeps,
): Promise<void> {
  let suspects: Suspects = new Map();
  for await (const some of inBatches(records, RECORDS_PER_READ)) {
    suspects = new Map([...suspects, ...(await suspectsOf(some))]);
    if (suspects.size < SUSPECTS_MAX) continue;
    await recheck(suspects, again, deps);
    suspects = new Map();
  }
  await recheck(suspects, again, deps);
}

/**
 * Reads again every record that differs from its entries, because the ledger follows by events. Reports those that
 * still differ once no record has come to agree for `allowedLagMs`.
 */
export async function recheck(
  found: Suspects,
  again: (references: readonly string[]) => Promise<Suspects>,
  { findings, clock, allowedLagMs }: CheckDeps,
): Promise<void> {
  let suspects = found;
  let untilMs = clock.nowMs() + allowedLagMs;
  while (suspects.size > 0 && clock.nowMs() < untilMs) {
    await clock.sleep(PAUSE_MS);
    const left = await again([...suspects.keys()]);
    if (left.size < suspects.size) untilMs = clock.nowMs() + allowedLagMs;
    suspects = left;
  }
  for (const [reference, messages] of suspects) {
    for (const [invariant, message] of messages) findings.report(invariant, reference, message);
  }
}

/** Groups the items of a stream into lists. */
async function* inBatches<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<readonly Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
