import { JsonError, parseJson } from '@pesewa/contracts';
import { describe, expect, it, vi } from 'vitest';
import { drive } from '../acceptance.fixture.ts';
import { parseItems, splitBody } from './json-items.ts';

const bounds = { itemsMax: 100, charactersMax: 1_000 };
const split = (text: string) => drive(splitBody(text, 'items', bounds));
/** The text put together again from its pieces, as far as they are JSON. */
const rejoin = (text: string) => {
  const { rest, items } = split(text);
  const body = parseJson(rest);
  return items === undefined ? body : { ...(body as object), items: parseItems(items) };
};

describe('the pieces are the whole', () => {
  it.each([
    '{"items":[]}',
    '{"items":[ ]}',
    '{"items":[1]}',
    '{"a":"x","items":[{"b":[1,2]},{"c":"],[\\"}"},[[]],"\\\\"],"z":{"items":[3]}}',
    '{ "items" : [ 1 , 2 , { "a" : "\\u005d" } ] , "b" : [ 5 ] }',
    '{"it\\u0065ms":[1,2]}',
    '{"other":"items","list":[1]}',
    '{"items":"none"}',
    '{"items":{"items":[1]}}',
    '[1,[2]]',
    '"items"',
  ])('%s', (text) => {
    expect(rejoin(text)).toEqual(parseJson(text));
  });
});

it('malformed text never comes apart into pieces that are well-formed', () => {
  const whole = '{"a":1,"items":[{"b":"x,]"},[2,3],"y"],"c":[{}]}';
  const wrongs = [
    ...Array.from(whole, (_, index) => whole.slice(0, index) + whole.slice(index + 1)),
    ...Array.from(whole, (character, index) => whole.slice(0, index) + character + whole.slice(index)),
    ...Array.from(whole, (_, index) => whole.slice(0, index)),
    '{"items":[1,]}',
    '{"items":[,1]}',
    '{"items":[1,,2]}',
    '{"items":[1}]',
    '{"items":[{"a":1]}]}',
    '{"items":[1] [2]}',
    '{"items":[1],"items":[2]}',
    '{"items":[1],"items":3}',
    '{"items" [1]}',
  ];
  for (const wrong of wrongs) {
    const direct = attempt(() => parseJson(wrong));
    const pieces = attempt(() => rejoin(wrong));
    expect(pieces, wrong).toEqual(direct);
  }
});

/** The result, or that the text is not JSON. */
function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof JsonError) return 'no JSON';
    throw error;
  }
}

describe('a hostile body costs no more than a decent one', () => {
  const generous = { itemsMax: 100, charactersMax: 1e9 };

  /** How often a key is cut out of the text so that it can be read. */
  const countKeysRead = (text: string) => {
    const slice = vi.spyOn(String.prototype, 'slice');
    drive(splitBody(text, 'items', generous));
    const times = slice.mock.contexts.filter((cut) => String(cut) === text).length;
    slice.mockRestore();
    return times;
  };

  it.each([
    ['a long string that is no key', '\\\\a'.repeat(500), 0],
    ['a string with escapes that is another key', 'it\\u0065mz', 1],
  ])('%s is judged once, however many brackets follow it', (_, key, times) => {
    expect(countKeysRead(`{"${key}"${'[]'.repeat(500)}`)).toBe(times);
  });

  it('reads no further than it may be long', () => {
    const steps = splitBody(`{"a":${'[]'.repeat(2_000_000)}`, 'items', bounds);
    expect(() => steps.next()).toThrow(/at most 1000 characters beside its items/);
  });
});

it('gives way while it splits a long text', () => {
  const long = JSON.stringify({ items: Array(100).fill(''), text: 'x' }).replace(
    '"x"',
    ' '.repeat(400_000) + '"x"',
  );
  expect(splitBody(long, 'items', { itemsMax: 100, charactersMax: 1e9 }).next()).toEqual({
    done: false,
    value: undefined,
  });
});
