import type { Result } from './result.ts';

/** A pure state machine: what a command makes happen, and what an event makes of the state. */
export interface Decider<State, Command, Event, Refusal> {
  readonly initial: State;
  readonly decide: (command: Command, state: State) => Result<readonly Event[], Refusal>;
  readonly evolve: (state: State, event: Event) => State;
}

/** Ends a switch over a union: the compiler refuses a forgotten case, and at run time it throws. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected case: ${String(value)}`);
}
