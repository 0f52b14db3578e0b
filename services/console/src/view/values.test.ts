import { describe, expect, it } from 'vitest';
import { indentJson, readTime } from './values.ts';

describe('a time that people write', () => {
  it.each([
    ['27/11/2026 14:05:09', 'Africa/Nairobi', '2026-11-27T11:05:09.000Z'],
    ['27/11/2026 14:05', 'UTC', '2026-11-27T14:05:00.000Z'],
    ['27/11/2026', 'Africa/Lagos', '2026-11-26T23:00:00.000Z'],
    // On this day the clocks go forward at midnight.
    ['24/04/2026 12:00:00', 'Africa/Cairo', '2026-04-24T09:00:00.000Z'],
    ['2026-11-27T14:05:09Z', 'Africa/Nairobi', '2026-11-27T14:05:09.000Z'],
    ['31/31/2026', 'UTC', undefined],
    ['31/02/2026', 'UTC', undefined],
    ['1/2/2026', 'UTC', undefined],
    ['2026-11-27', 'UTC', undefined],
    ['yesterday', 'UTC', undefined],
  ])('%s in %s', (text, zone, at) => {
    expect(readTime(text, zone)).toBe(at);
  });
});

describe('JSON for people', () => {
  it('keeps every value as it is written', () => {
    const text = '{"a":2468.40,"b":"{x: [1, 2]} \\" ,","c":[true, null]}';
    const shown = indentJson(text);
    expect(shown).toContain(
      '\n  "a": 2468.40,\n  "b": "{x: [1, 2]} \\" ,",\n  "c": [\n    true,\n    null\n  ]',
    );
    expect(JSON.parse(shown)).toEqual(JSON.parse(text));
  });

  it('leaves a text that is none to be read', () => {
    expect(indentJson('no JSON, {')).toBe('no JSON, {');
  });
});
