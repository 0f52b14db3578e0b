import type { Clock } from '@pesewa/kernel';
import type { Findings, Invariant } from './findings.ts';

/** How a record and its entries differ. The ledger may still be behind, so they are read again before it counts. */
export type Disagreement = readonly [Invariant, string];

/** The records that differ from their entries, by reference. */
export type Suspects = ReadonlyMap<string, readonly Disagreement[]>;

const PAUSE_MS = 250;

/**
 * Reads again every record that differs from its entries, because the ledger follows by events. Reports those that
 * still differ once no record has come to agree for `settleMs`.
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

/** Groups the items of a stream into lists. */
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
