import { isLosslessNumber, type LosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';

declare global {
  interface JSON {
    /** Puts a number's own text into JSON (ES2026, in Node 22 and later). */
    rawJSON(text: string): number;
  }
}

/** The deepest nesting of any body we read; a deeper one is an attack on the stack. */
export const JSON_DEPTH_MAX = 32;

/**
 * A text that is not JSON, is nested too deeply, or has a key twice with different values. The message says what the
 * text must be, to follow its name.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError';

  constructor(message = 'must be well-formed JSON, each key once', options?: ErrorOptions) {
    super(message, options);
  }
}

/** Reads JSON and keeps each number's own text, so that no amount passes through a float. */
export function parseJson(text: string): unknown {
  if (exceedsDepth(text)) throw new JsonError(`must be nested at most ${JSON_DEPTH_MAX} levels deep`);
  try {
    return parse(text);
  } catch (error) {
    throw new JsonError(undefined, { cause: error });
  }
}

function exceedsDepth(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}

/** A JSON number, kept as its own text; API documents show it as a number, which it is on the wire. */
export const numberText = z
  .custom<LosslessNumber>(isLosslessNumber, { error: 'must be a number' })
  .meta({ type: 'number' })
  .transform((number) => number.value);

/** A JSON number that is a small integer. */
export const wholeNumber = numberText.pipe(
  z.string().regex(/^\d{1,9}$/, { error: 'must be a whole number' }),
);

/** Puts an exact decimal text into a body as a JSON number. */
export function jsonNumber(decimal: string): number {
  return JSON.rawJSON(decimal);
}

/** A body that the schema documents, as it is written: exact numbers come from {@link jsonNumber}. */
export type JsonOf<Schema extends z.ZodType> = Written<z.input<Schema>>;

type Written<Value> = Value extends LosslessNumber
  ? number
  : Value extends object
    ? { readonly [Key in keyof Value]: Written<Value[Key]> }
    : Value;
