/** Something that was done, or a refusal with its reason; exceptions are for defects and faults of the environment. */
export type Result<Value, Refusal> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal };

/** The side of a {@link Result} that was done. */
export function accept<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

/** The side of a {@link Result} that was refused. */
export function refuse<Refusal>(refusal: Refusal): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal };
}

/** Ends a switch over a union: the compiler refuses a forgotten case, and at run time it throws. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected case: ${String(value)}`);
}
