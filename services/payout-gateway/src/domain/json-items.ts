import { JsonError, parseJson } from '@pesewa/contracts';

/** The parts of a large body: everything except one array, and that array's items, still as text. */
export interface SplitBody {
  /** The body with the array empty. */
  readonly rest: string;
  /** The texts of the items; undefined if the body has no such array. */
  readonly items: readonly string[] | undefined;
}

/** Bounds of a split. */
export interface SplitBounds {
  readonly itemsMax: number;
  /** The most characters of one item, and of the rest. */
  readonly charactersMax: number;
}

/** A body that exceeds a limit, with a message for the merchant. */
export class BoundsError extends Error {
  override readonly name = 'BoundsError';
}

const CHARACTERS_PER_STEP = 131_072;

/**
 * Splits the text of a JSON object at one of its arrays, so that a large body can be parsed in pieces.
 *
 * It yields between steps, so that the caller can let other work run. It only splits: parsing the pieces shows whether
 * they are JSON, and malformed text never splits into pieces that are all valid.
 */
export function* splitBody(text: string, key: string, bounds: SplitBounds): Generator<void, SplitBody> {
  let depth = 0;
  let lastIsKey = false;
  let stepEnd = CHARACTERS_PER_STEP;
  let found: { readonly items: readonly string[]; readonly start: number; readonly end: number } | undefined;
  for (let index = 0; index < text.length; index += 1) {
    if (index >= stepEnd) {
      stepEnd = index + CHARACTERS_PER_STEP;
      yield;
    }
    const character = text.charCodeAt(index);
    if (character === QUOTE) {
      const end = endOfString(text, index);
      // Checked once here and not at every bracket that follows: a hostile body has millions of them.
      if (depth === 1) lastIsKey = isKey(text, index, end, key);
      index = end;
    } else if (character === OPEN_BRACKET && depth === 1 && lastIsKey) {
      if (found) throw new JsonError();
      const { items, end } = yield* splitArray(text, index, key, bounds);
      found = { items, start: index, end };
      stepEnd = end + CHARACTERS_PER_STEP;
      index = end;
    } else if (isOpening(character)) depth += 1;
    else if (isClosing(character)) depth -= 1;
    // Checked while reading, so that no work is spent on a body that is too long.
    checkRest(index + 1 - (found ? found.end - found.start - 1 : 0), key, bounds);
  }
  const rest = found ? `${text.slice(0, found.start + 1)}${text.slice(found.end)}` : text;
  return { rest, items: found?.items };
}

function checkRest(length: number, key: string, { charactersMax }: SplitBounds): void {
  if (length > charactersMax)
    throw new BoundsError(`the body must have at most ${charactersMax} characters beside its ${key}`);
}

/** The texts between an array's commas, from its opening bracket on, and the position of its closing one. */
function* splitArray(
  text: string,
  start: number,
  key: string,
  bounds: SplitBounds,
): Generator<void, { readonly items: readonly string[]; readonly end: number }> {
  const items: string[] = [];
  let depth = 0;
  let itemStart = start + 1;
  let stepEnd = start + CHARACTERS_PER_STEP;
  const take = (end: number) => {
    if (items.length === bounds.itemsMax)
      throw new BoundsError(`${key} must have at most ${bounds.itemsMax} items`);
    if (end - itemStart > bounds.charactersMax)
      throw new BoundsError(`${key}.${items.length} must have at most ${bounds.charactersMax} characters`);
    items.push(text.slice(itemStart, end));
    itemStart = end + 1;
  };
  for (let index = start + 1; index < text.length; index += 1) {
    if (index >= stepEnd) {
      stepEnd = index + CHARACTERS_PER_STEP;
      yield;
    }
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (isOpening(character)) depth += 1;
    else if (isClosing(character)) {
      depth -= 1;
      if (depth >= 0) continue;
      if (character !== CLOSE_BRACKET) break;
      // An empty array has no items; after a comma, an empty text is an invalid item and fails to parse.
      if (items.length > 0 || text.slice(itemStart, index).trim() !== '') take(index);
      return { items, end: index };
    } else if (character === COMMA && depth === 0) take(index);
  }
  throw new JsonError();
}

/** Parses the items of a split body; gives exactly one value per text. */
export function parseItems(texts: readonly string[]): readonly unknown[] {
  const parsed = parseJson(`[${texts.join(',')}]`);
  if (!Array.isArray(parsed) || parsed.length !== texts.length) throw new JsonError();
  return parsed;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const isOpening = (character: number): boolean => character === OPEN_BRACKET || character === 0x7b;
const isClosing = (character: number): boolean => character === CLOSE_BRACKET || character === 0x7d;

/** The position of the closing quote of the string that starts here. */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (character === BACKSLASH) index += 1;
    else if (character === QUOTE) return index;
  }
  throw new JsonError();
}

/**
 * Whether the JSON string between two quotes is the key, even with escapes such as `\u0061`, the longest form of a
 * letter.
 */
function isKey(text: string, start: number, end: number, key: string): boolean {
  const length = end + 1 - start;
  if (length > 6 * key.length + 2) return false;
  const literal = text.slice(start, end + 1);
  if (literal === `"${key}"`) return true;
  return literal.includes('\\') && parseJson(literal) === key;
}
