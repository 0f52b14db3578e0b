import type { Two } from './type-cycle-two.ts';

/** Refers to the other's type. */
export interface One {
  readonly other?: Two;
}
