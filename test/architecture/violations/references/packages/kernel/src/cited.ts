/** Alive: contract 1, 1.1, invariant L1, (L1), ADR 1; not citations: contract law, a design of 9 parts. */
export const alive = 'R7';
/** Dead: contract 1, 1.2. */
export const section = 1;
// Dead: ADR 2.
export const decision = `contract 1.1 to 2.3`;
/** Dead: (L1, P1). */
export const invariant = 'invariant X1';
/** Dead: design 4.3. */
export const elsewhere = 'research/reliability 6.5';
export const livingName = 2;
export const createName = () => livingName;
/**
 * Dead, across lines: (ADR
 * 4), and alive (ADR
 * 1).
 */
export const split = 3;
// Dead, across lines: contract
// 1.2.
export const splitAgain = 4;
