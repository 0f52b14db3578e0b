import type { One } from './type-cycle-one.ts';

/** Refers to the other's type. */
export interface Two {
  readonly other?: One;
}
