import { strictFields } from '@pesewa/contracts';
import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  type Column,
  mappingProblem,
  needsOffset,
  type StatementMapping,
  statementFields,
  timeFormats,
} from '../domain/statement-mapping.ts';
import { readOffset } from '../domain/statement-times.ts';

const NAME_LENGTH_MAX = 100;
const WORDS_MAX = 50;
const PLACE_MAX = 200;

/** Unknown fields are refused: a mistyped one would silently have no effect. */
const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  strictFields(
    shape,
    (names) => `has no field ${names.join(', ')}: it knows ${Object.keys(shape).join(', ')}`,
    'must be a JSON object',
  );

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}` });

const column: z.ZodType<Column> = z.union(
  [z.string().trim().min(1).max(NAME_LENGTH_MAX), z.number().int().min(1).max(PLACE_MAX)],
  { error: `must be the name of a column, or its place from 1 to ${PLACE_MAX}` },
);

const wordList = z
  .array(z.string().trim().min(1).max(NAME_LENGTH_MAX), { error: 'must be a list of words' })
  .max(WORDS_MAX);

const words = <const Meanings extends readonly [string, ...string[]]>(...meanings: Meanings) =>
  fields(
    Object.fromEntries(meanings.map((meaning) => [meaning, wordList.optional()])) as {
      readonly [Meaning in Meanings[number]]: z.ZodOptional<typeof wordList>;
    },
  ).refine((all) => isDisjoint(Object.values(all) as (readonly string[] | undefined)[]), {
    error: 'has one word under two meanings: each word means one thing',
  });

function isDisjoint(lists: readonly (readonly string[] | undefined)[]): boolean {
  const all = lists.flatMap((list = []) => list.map((word) => word.toLowerCase()));
  return new Set(all).size === all.length;
}

/** A mapping as operators write it: JSON, each problem with its field and what to do. */
export const statementMapping: z.ZodType<StatementMapping> = fields({
  delimiter: oneOf([',', ';', '\t', '|']).default(','),
  decimal: oneOf(['.', ',']).default('.'),
  grouping: oneOf(['', ',', '.', ' ', "'"]).default(''),
  header: z.boolean({ error: 'must be true or false' }).default(true),
  columns: fields(
    Object.fromEntries(statementFields.map((field) => [field, column.optional()])) as {
      readonly [Field in (typeof statementFields)[number]]: z.ZodOptional<typeof column>;
    },
  ),
  time: fields({
    format: oneOf(timeFormats),
    offset: z
      .string()
      .refine((text) => readOffset(text) !== undefined, { error: 'must be an offset such as +03:00' })
      .optional(),
  })
    .refine(({ format, offset }) => needsOffset(format) || offset === undefined, {
      error: 'has an offset, yet its format contains the zone: leave it out',
    })
    .optional(),
  positive: oneOf(['credit', 'debit']).default('credit'),
  holds: oneOf(['payouts', 'collections']).optional(),
  directions: words('debit', 'credit').optional(),
  statuses: words('completed', 'failed', 'reversed', 'pending').optional(),
  kinds: words('payout', 'collection', 'reversal', 'other').optional(),
}).superRefine((mapping, context) => {
  const problem = mappingProblem(mapping);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** The name of a mapping. */
export const mappingName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  error: 'must have 1 to 40 of a-z, 0-9 and -, and begin with a letter',
});

/** A stored mapping; `_id` is its name. */
export interface MappingDocument {
  readonly _id: string;
  readonly mapping: StatementMapping;
  readonly at: Date;
  readonly by: string;
}

/** The stored mappings. */
export type MappingStore = ReturnType<typeof openMappingStore>;

const MAPPINGS_MAX = 200;

/**
 * Opens the mappings. A statement stores the mapping that it was read by, so replacing a mapping changes no statement.
 */
export function openMappingStore(db: Db) {
  const collection = db.collection<MappingDocument>('statement_mappings');
  return {
    put: async ({ _id, ...replacement }: MappingDocument): Promise<void> => {
      await collection.replaceOne({ _id }, replacement, { upsert: true });
    },
    find: (name: string): Promise<MappingDocument | null> => collection.findOne({ _id: name }),
    list: (): Promise<readonly MappingDocument[]> =>
      collection.find().sort({ _id: 1 }).limit(MAPPINGS_MAX).toArray(),
  };
}
