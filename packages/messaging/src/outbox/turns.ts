import { bulkhead } from 'cockatiel';

/** Runs pieces of work one after another, in the order of the calls. */
export type InTurn = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds an {@link InTurn}; all work that is given to it takes turns. */
export function createTurns(): InTurn {
  const turns = bulkhead(1, Number.MAX_SAFE_INTEGER);
  return (work) => turns.execute(work);
}
