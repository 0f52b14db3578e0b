import { z } from 'zod';
import { wholeNumber } from '../json.ts';

/** A page of a list; `next` is the cursor of the page after. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** A text of at most so many characters. */
export const textUpTo = (lengthMax: number) =>
  z.string().max(lengthMax, { error: `must have at most ${lengthMax} characters` });

/** The item after which the next page of a list begins; lists show the newest first. */
export interface PageCursor {
  readonly atMs: number;
  readonly id: string;
}

/** A cursor as text; {@link pageCursor} reads it. */
export function formatPageCursor({ atMs, id }: PageCursor): string {
  return `${atMs}.${id}`;
}

/** The parameter `cursor` of a list. */
export const pageCursor = textUpTo(300).transform((text, context): PageCursor => {
  const [, at, id] = /^(\d{1,15})\.(.+)$/s.exec(text) ?? [];
  if (at !== undefined && id !== undefined) return { atMs: Number(at), id };
  context.addIssue({ code: 'custom', message: 'is no cursor of this list' });
  return z.NEVER;
});

/** A parameter of a list that narrows it if it is `true`. */
export const onlyIfTrue = z.literal('true', { error: 'must be true, or left out' }).optional();

/** A bound of a list by time. */
export const instant = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-11-01T08:00:00Z' });

/** The parameter `limit` of a list: how many items a page has, at most 999. */
export function pageLimit(most: number, byDefault: number): z.ZodDefault<z.ZodType<number, number>> {
  const error = `must be a whole number from 1 to ${most}`;
  const limit = z
    .string()
    .regex(/^[1-9]\d{0,2}$/, { error })
    .meta({ type: 'integer', minimum: 1, maximum: most })
    .transform(Number)
    .refine((count) => count <= most, { error })
    .default(byDefault);
  // Clients give a number; in a query everything is text.
  return limit as unknown as z.ZodDefault<z.ZodType<number, number>>;
}

/** A small whole number of a body; services read its own text, clients give a number. */
export const smallNumber = wholeNumber.transform(Number) as unknown as z.ZodType<number, number>;

/** A small whole number of a body, within bounds. */
export const numberBetween = (min: number, max: number) =>
  smallNumber.refine((number) => number >= min && number <= max, {
    error: `must be a whole number from ${min} to ${max}`,
  });

/** A time in UTC: a service may give a date, which JSON writes as this text. */
export const timeOrDate = z.string() as unknown as z.ZodType<string, string | Date>;

const exportFormats = ['csv', 'json'] as const;

/** How lists can be exported. */
export type ExportFormat = (typeof exportFormats)[number];

/** The parameter `format` of an export. */
export const exportFormat = z
  .enum(exportFormats, { error: `must be one of ${exportFormats.join(', ')}` })
  .default('csv');

/** The queries for a page of records and for an export of them, each narrowed to one of these results. */
export function recordQueries<const Results extends readonly [string, ...string[]]>(results: Results) {
  const result = z.enum(results, { error: `must be one of ${results.join(', ')}` }).optional();
  return {
    page: z.object({ result, cursor: textUpTo(120).optional(), limit: pageLimit(500, 100) }),
    export: z.object({ result, format: exportFormat }),
  };
}
