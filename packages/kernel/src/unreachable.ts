/** Ends a switch over a union: the compiler refuses a forgotten case, and at run time it is breakage. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected case: ${String(value)}`);
}
