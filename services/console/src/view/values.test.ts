import { describe, expect, it } from 'vitest';
import { indentJson, plainAmount, readTime, words } from './values.ts';

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
    ['2026-11-27', 'Africa/Lagos', '2026-11-26T23:00:00.000Z'],
    ['27/11/2026 14', 'UTC', undefined],
    ['31/01/2027 10:00 PM', 'UTC', undefined],
    ['yesterday', 'UTC', undefined],
  ])('%s in %s', (text, zone, at) => {
    expect(readTime(text, zone)).toBe(at);
  });
});

describe('an amount that people write', () => {
  it.each([
    ['1,234.56', '1234.56'],
    ['-1 234 567.5', '-1234567.5'],
    ['+12\u00a0345', '+12345'],
    ['2500.50', '2500.50'],
    // Nobody knows what these mean, so the service refuses them.
    ['1,23', '1,23'],
    ['1,234,56', '1,234,56'],
    ['1,234 567', '1,234 567'],
    ['1234,567', '1234,567'],
  ])('%s is sent as %s', (text, plain) => {
    expect(plainAmount(text)).toBe(plain);
  });
});

describe('a text that a service wrote', () => {
  it('has its times as pages show times, and nothing of it is markup', async () => {
    const text = 'since 2026-11-27T14:05:09.123Z <b>, not 2026-99-99T99:99Z';
    const shown = String(await words(text, { zone: 'Africa/Nairobi', nowMs: 0 }));
    expect(shown).toContain('>27/11/2026 17:05:09</time> &lt;b&gt;, not 2026-99-99T99:99Z</bdi>');
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
