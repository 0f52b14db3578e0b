import type { Clock } from '@pesewa/kernel';
import type { Findings, Invariant } from './findings.ts';

/** What a record and its entries disagree about: the ledger may still be behind, so it is asked again before it counts. */
export type Disagreement = readonly [Invariant, string];

/** What disagrees, by its reference. */
export type Suspects = ReadonlyMap<string, readonly Disagreement[]>;

const PAUSE_MS = 250;

/**
 * Asks again for whatever disagrees with its entries, and reports what still does when none of it was settled for
 * `settleMs`: the ledger follows by events.
 */
export async function settle(
  found: Suspects,
  again: (references: readonly string[]) => Promise<Suspects>,
  deps: { readonly findings: Findings; readonly clock: Clock; readonly settleMs: number },
): Promise<void> {
  const { findings, clock, settleMs } = deps;
  let suspects = found;
  let patientUntilMs = clock.nowMs() + settleMs;
  while (suspects.size > 0 && clock.nowMs() < patientUntilMs) {
    await clock.sleep(PAUSE_MS);
    const left = await again([...suspects.keys()]);
    if (left.size < suspects.size) patientUntilMs = clock.nowMs() + settleMs;
    suspects = left;
  }
  for (const [reference, told] of suspects) {
    for (const [invariant, message] of told) findings.report(invariant, reference, message);
  }
}

/** Cuts what comes one by one into lists. */
export async function* chunksOf<Item>(
  items: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<readonly Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
