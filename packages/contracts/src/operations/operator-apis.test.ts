import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Operations } from './operation.ts';
import { operatorApis } from './operator-apis.ts';

/** Where a schema has a number that only a float can be: bodies are read with each number as its own text. */
function floatsIn(schema: unknown, path: string, seen = new Set<unknown>()): readonly string[] {
  if (schema === null || typeof schema !== 'object' || seen.has(schema)) return [];
  seen.add(schema);
  if (schema instanceof z.core.$ZodNumber) return [path];
  const parts = schema instanceof z.core.$ZodType ? Object.entries(schema._zod.def) : Object.entries(schema);
  return parts.flatMap(([name, part]) => floatsIn(part, `${path}.${name}`, seen));
}

it('asks for no number in a body that the lossless reader cannot give', () => {
  const apis: Readonly<Record<string, Readonly<Record<string, Operations>>>> = operatorApis;
  const bodies = Object.entries(apis).flatMap(([service, parts]) =>
    Object.values(parts).flatMap((operations) =>
      Object.values(operations).map(({ path, body }) => floatsIn(body, `${service} ${path}`)),
    ),
  );
  expect(bodies.length).toBeGreaterThan(50);
  expect(bodies.flat()).toEqual([]);
  expect(floatsIn(z.object({ columns: z.union([z.string(), z.int().min(1)]) }), 'x')).toHaveLength(1);
});
