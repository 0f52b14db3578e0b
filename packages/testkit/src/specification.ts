import { deepStrictEqual } from 'node:assert/strict';
import type { Result } from '@pesewa/kernel';

/** A pure state machine: what a command makes happen, and what an event makes of the state. */
interface Decider<State, Command, Event, Refusal> {
  readonly initial: State;
  readonly decide: (command: Command, state: State) => Result<readonly Event[], Refusal>;
  readonly evolve: (state: State, event: Event) => State;
}

/** A decider's behaviour as a sentence: given what happened, when a command comes, then exactly this follows. */
export function specify<State, Command, Event, Refusal>(decider: Decider<State, Command, Event, Refusal>) {
  return {
    given: (...history: readonly Event[]) => {
      const state = history.reduce(decider.evolve, decider.initial);
      return specifyFrom(decider, state);
    },
    /** Starts from a state that events alone can't lead to, such as one that a claim has marked. */
    givenState: (state: State) => specifyFrom(decider, state),
  };
}

function specifyFrom<State, Command, Event, Refusal>(
  decider: Decider<State, Command, Event, Refusal>,
  state: State,
) {
  return {
    when: (command: Command) => {
      const decision = decider.decide(command, state);
      return {
        /** The events, all of them, in this order. */
        emits: (...events: readonly Event[]) => deepStrictEqual(decision, { ok: true, value: events }),
        isRefused: (refusal: Refusal) => deepStrictEqual(decision, { ok: false, refusal }),
        /** The state that the events lead to. */
        leadsTo: (expected: Partial<State>) => {
          const after = decision.ok ? decision.value.reduce(decider.evolve, state) : state;
          deepStrictEqual({ ...after, ...expected }, after);
        },
      };
    },
  };
}
