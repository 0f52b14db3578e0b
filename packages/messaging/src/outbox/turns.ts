/** Runs pieces of work one after another, in the order of the calls. */
export type RunSerially = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Builds an {@link RunSerially}; all work that is given to it takes turns. */
export function createSerialiser(): RunSerially {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
