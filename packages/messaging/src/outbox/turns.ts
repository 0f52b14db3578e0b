/** Runs pieces of work one after another, in the order of the calls. */
export type InTurn = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds an {@link InTurn}; all work that is given to it takes turns. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
