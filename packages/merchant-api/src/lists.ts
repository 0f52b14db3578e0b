import { describeProblem, firstProblem, instant, pageLimit } from '@pesewa/contracts';
import { accept, type IdPrefix, isId, type Result, refuse } from '@pesewa/kernel';
import { createBulkheads, type Logger } from '@pesewa/runtime';
import type { Context } from 'hono';
import { z } from 'zod';
import type { AppEnv } from './authentication.ts';

const PAGE = { most: 200, byDefault: 50 } as const;

/** How many pages are read at once: lists scan, and must leave the database to those who pay. */
const OF_ALL = { runningMax: 8, waitingMax: 64 } as const;
const OF_A_MERCHANT = { runningMax: 2, waitingMax: 8 } as const;

/** The parameters that every list takes: of what time, and which page; its cursors are references with this prefix. */
export function listParameters(prefix: IdPrefix) {
  return {
    from: instant
      .optional()
      .meta({ description: 'accepted at this time or later', example: '2026-11-01T00:00:00Z' }),
    to: instant
      .optional()
      .meta({ description: 'accepted before this time', example: '2026-12-01T00:00:00Z' }),
    cursor: z
      .string()
      .refine((text) => isId(prefix, text), { error: 'must be a nextCursor of this list' })
      .optional()
      .meta({ description: 'the `nextCursor` of the page before, with the same other parameters' }),
    limit: pageLimit(PAGE.most, PAGE.byDefault).meta({
      description: `how many a page has, at most ${PAGE.most}; ${PAGE.byDefault} if it is left out`,
    }),
  };
}

/** The schema of a list's parameters, which are these alone; the remark ends the error that names them. */
export function onlyParameters<Shape extends z.ZodRawShape>(shape: Shape, remark = '') {
  const names = Object.keys(shape);
  const known = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `the parameters of this list are ${known}${remark}` : undefined,
  });
}

/** The field `nextCursor` of a page. */
export const nextCursorField = z
  .string()
  .nullable()
  .meta({ description: 'the `cursor` of the next page; null on the last' });

/** The parameters of a list, as {@link listParameters} reads them. */
interface ReadParameters {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** What a store is asked for: these times and this page, and one item more, by which the next page is seen. */
export interface ListQuery {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly before: string | undefined;
  readonly limit: number;
}

/** A page of a list; `nextCursor` is null on the last one. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Why a list is refused. */
export interface ListRefusal<Code extends string = never> {
  readonly code: 'malformed' | 'unavailable' | Code;
  readonly message: string;
}

/** Reads a page of a list for the merchant of a request, by parameters of this schema. */
export type ReadPage = <
  Schema extends z.ZodType<ReadParameters>,
  Item extends { readonly reference: string },
  Code extends string = never,
>(
  context: Pick<Context<AppEnv>, 'req' | 'get'>,
  schema: Schema,
  /** Finds the items, the newest first; undefined if they are too few of too many to be found in time. */
  find: (
    merchantId: string,
    query: ListQuery,
    parameters: z.output<Schema>,
  ) => Promise<Result<readonly Item[] | undefined, ListRefusal<Code>>>,
) => Promise<Result<ListPage<Item>, ListRefusal<Code>>>;

/** Builds the {@link ReadPage} of an API; its lists share the places in which pages are read. */
export function createReadPage(logger: Pick<Logger, 'error'>): ReadPage {
  const ofAMerchant = createBulkheads(OF_A_MERCHANT);
  const ofAll = createBulkheads(OF_ALL);
  return async (context, schema, find) => {
    const given = readParameters(context.req.url, schema);
    if (!given.ok) return refuse({ code: 'malformed', message: given.refusal });
    const { from, to, cursor: before, limit } = given.value;
    const query = { fromMs: instantOf(from), toMs: instantOf(to), before, limit: limit + 1 };
    const { id } = context.get('merchant');
    const work = () =>
      find(id, query, given.value).catch((error: unknown) => {
        logger.error({ err: error }, 'a list could not be read');
        return refuse({
          code: 'unavailable' as const,
          message: 'the list is not available at present: try again',
        });
      });
    const found = await ofAMerchant.run(id, () => ofAll.run('all', work));
    if (!found) return refuse({ code: 'unavailable', message: 'too many lists at once: try again' });
    if (!found.ok) return found;
    if (!found.value)
      return refuse({
        code: 'malformed',
        message: 'from and to are too far apart to find so few: narrow them',
      });
    const items = found.value.slice(0, limit);
    const hasMore = found.value.length > limit;
    return accept({ items, nextCursor: hasMore ? (items.at(-1)?.reference ?? null) : null });
  };
}

const instantOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

/** Reads the parameters of an address: an empty one counts as absent, one that is unknown or given twice is refused. */
function readParameters<Schema extends z.ZodType>(
  url: string,
  schema: Schema,
): Result<z.output<Schema>, string> {
  const { searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const given = Object.fromEntries([...searchParams].filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) return refuse(describeProblem(firstProblem(parsed.error)));
  // By now all names are known, so it is safe to show one.
  return twice === undefined ? accept(parsed.data) : refuse(`${twice} must be given once`);
}
