import { expect, it } from 'vitest';
import type { z } from 'zod';
import type { Operations } from './operations/operation.ts';
import { operatorApis } from './operations/operator-apis.ts';
import { line, seenLine } from './text.ts';

it.each([
  '',
  '  ',
  '\u200b',
  '\u00ad\u2060',
  '\u3164',
  '\u2800 \u2003',
  '\ufe0f\u{e0100}',
  '\u034f\u17b4\u180b',
  '\u{1d159}',
])('what people say to people is not %j, of which nothing is seen', (text) => {
  expect(seenLine(10).safeParse(text).error?.issues).toMatchObject([{ message: 'is required' }]);
});

it('a line of a merchant may have what is not seen (contract 10.3)', () => {
  expect(line(10).safeParse('\u200b').success).toBe(true);
});

it('every reason that an operator gives shows something', () => {
  const apis: Readonly<Record<string, Readonly<Record<string, Operations>>>> = operatorApis;
  const operations = Object.values(apis).flatMap((parts) =>
    Object.values(parts).flatMap((part) => Object.values(part)),
  );
  const reasons = operations.flatMap(({ path, body }) => {
    const { shape } = (body ?? {}) as { readonly shape?: Readonly<Record<string, z.ZodType>> };
    return ['reason', 'resolution', 'explanation', 'text', 'note'].flatMap((name) => {
      const field = shape?.[name];
      return field ? [[`${path} ${name}`, field.safeParse('\u200b ').success] as const] : [];
    });
  });
  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.filter(([, taken]) => taken)).toEqual([]);
});
