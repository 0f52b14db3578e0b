// Nothing to report here: the testkit's sentences and helpers called expect… assert.
import { specify } from '@pesewa/testkit';
import { it } from 'vitest';

const decider = specify({ decide: () => ({ ok: true, value: [] }), evolve: () => 0, initial: 0 });
const expectNothing = (): void => decider.given().when('nothing').emits();

it('says what follows', () => {
  decider.given().when('nothing').emits();
});

it('asks a helper', () => {
  expectNothing();
});
