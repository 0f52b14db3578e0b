import { z } from 'zod';
import { numberBetween } from './lists.ts';
import { strictFields } from './operation.ts';

/** The fields that can be read from a line of a statement. */
export const statementFields = [
  'reference',
  'railReference',
  'amount',
  'debit',
  'credit',
  'direction',
  'fee',
  'currency',
  'time',
  'status',
  'kind',
] as const;

/** One of {@link statementFields}. */
export type StatementField = (typeof statementFields)[number];

/** The time formats of statements; those without a zone need an offset. */
export const timeFormats = [
  'ISO',
  'YYYY-MM-DD HH:mm:ss',
  'DD/MM/YYYY HH:mm:ss',
  'MM/DD/YYYY HH:mm:ss',
  'DD.MM.YYYY HH:mm:ss',
  'DD-MM-YYYY HH:mm:ss',
  'DD-MMM-YYYY HH:mm:ss',
  'YYYYMMDDHHmmss',
  'unix',
  'unixMs',
] as const;

/** One of {@link timeFormats}. */
export type TimeFormat = (typeof timeFormats)[number];

/** The delimiters between cells. */
export const delimiters = [',', ';', '\t', '|'] as const;

/** The thousands separators; a space is any space, and an apostrophe any mark like it. */
export const groupings = ['', ',', '.', ' ', "'"] as const;

/** The encodings of a file that has no mark. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

/** An offset from UTC: `+03:00`, `-0330`, `+03` or `Z`. */
export const offsetPattern = /^(?:Z|([+-])(0\d|1[0-4])(?::?([0-5]\d))?)$/;

const NAME_LENGTH_MAX = 100;
const WORDS_MAX = 50;
const PLACE_MAX = 200;
const SKIPPED_MAX = 1_000;

/** Unknown fields are refused: a mistyped one would silently have no effect. */
const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  strictFields(
    shape,
    (names) => `has no field ${names.join(', ')}: it knows ${Object.keys(shape).join(', ')}`,
    'must be a JSON object',
  );

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}` });

/** The place of a value in a line: its column's name, or its position from 1. */
const column = z.union([z.string().trim().min(1).max(NAME_LENGTH_MAX), numberBetween(1, PLACE_MAX)], {
  error: `must be the name of a column, or its place from 1 to ${PLACE_MAX}`,
});

const columns = fields(
  Object.fromEntries(statementFields.map((field) => [field, column.optional()])) as {
    readonly [Field in StatementField]: z.ZodOptional<typeof column>;
  },
);

const wordsOf = (lengthMin: number) =>
  z
    .array(z.string().trim().min(lengthMin).max(NAME_LENGTH_MAX), { error: 'must be a list of words' })
    .max(WORDS_MAX)
    .readonly();

const meanings = <const Meanings extends readonly [string, ...string[]]>(...names: Meanings) => {
  const words = wordsOf(1);
  return fields(
    Object.fromEntries(names.map((name) => [name, words.optional()])) as {
      readonly [Meaning in Meanings[number]]: z.ZodOptional<typeof words>;
    },
  ).refine((all) => isDisjoint(Object.values(all) as (readonly string[] | undefined)[]), {
    error: 'has one word under two meanings: each word means one thing',
  });
};

function isDisjoint(lists: readonly (readonly string[] | undefined)[]): boolean {
  const all = lists.flatMap((list = []) => list.map((word) => word.toLowerCase()));
  return new Set(all).size === all.length;
}

const time = fields({
  format: oneOf(timeFormats),
  offset: z.string().regex(offsetPattern, { error: 'must be an offset such as +03:00' }).optional(),
}).refine(({ format, offset }) => needsOffset(format) || offset === undefined, {
  error: 'has an offset, yet its format contains the zone: leave it out',
});

const mapping = fields({
  delimiter: oneOf(delimiters).default(','),
  decimal: oneOf(['.', ',']).default('.'),
  /** The thousands separator; empty if there is none. */
  grouping: oneOf(groupings).default(''),
  /** Whether a line names the columns; without it columns are given by position. */
  header: z.boolean({ error: 'must be true or false' }).default(true),
  columns,
  time: time.optional(),
  /** The meaning of a positive amount, if its sign gives the direction. */
  positive: oneOf(['credit', 'debit']).default('credit'),
  /** The kind of every line, if no column gives it. */
  holds: oneOf(['payouts', 'collections']).optional(),
  /** Words in the direction, status and kind columns, in any case. */
  directions: meanings('debit', 'credit').optional(),
  statuses: meanings('completed', 'failed', 'reversed', 'pending').optional(),
  /** `other` marks lines that are no payments, such as top-ups: they are set aside. */
  kinds: meanings('payout', 'collection', 'reversal', 'other').optional(),
  /** How a file without a mark is written. */
  encoding: oneOf(encodings).optional(),
  /** How many lines stand before the heading, or before the first line if there is no heading. */
  skipLines: numberBetween(0, SKIPPED_MAX).optional(),
  /** How lines begin that are no payments, such as totals; an empty word is a line with nothing but amounts. */
  setAside: wordsOf(0).optional(),
});

/** How a rail writes its statements: which column holds what, and what its words mean. */
export type StatementMapping = Readonly<z.output<typeof mapping>>;

/** A mapping as operators write it: JSON, each problem with its field and what to do. */
export const statementMapping = mapping.superRefine((given, context) => {
  const problem = mappingProblem(given);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** A mapping as a client gives it. */
export type StatementMappingBody = z.input<typeof statementMapping>;

/** What is wrong with a mapping as a whole, with the field and the remedy; undefined if it can be used. */
export function mappingProblem(given: StatementMapping): string | undefined {
  const { header, decimal, grouping, delimiter } = given;
  const has = (field: StatementField) => given.columns[field] !== undefined;
  const named = Object.entries(given.columns).find(([, one]) => typeof one === 'string');
  if (!header && named)
    return `columns.${named[0]} names a column, yet header is false: give its place as a number from 1`;
  const unfit = movementProblem(given, has) ?? wordsProblem(given, has) ?? timeProblem(given, has);
  if (unfit !== undefined) return unfit;
  if (decimal === grouping) return 'grouping must not be the decimal separator';
  if (!has('reference')) return 'columns.reference is required: lines are matched by it alone';
  return delimiter === decimal && !header
    ? 'delimiter is the decimal separator: without a header it is unknown whether every amount is quoted'
    : undefined;
}

type Has = (field: StatementField) => boolean;

function movementProblem({ holds }: StatementMapping, has: Has): string | undefined {
  if (has('debit') !== has('credit'))
    return 'columns.debit and columns.credit belong together: name both, or amount';
  if (has('debit') === has('amount'))
    return 'columns must have either amount, or both debit and credit, and not all of them';
  if (has('direction') && !has('amount'))
    return 'columns.direction gives the direction of columns.amount, which is missing';
  const directions = [holds !== undefined, has('debit'), has('direction'), has('kind')];
  return holds !== undefined && directions.filter(Boolean).length > 1
    ? 'holds is for files whose lines do not say what they are: leave out holds, or the columns that say it'
    : undefined;
}

function wordsProblem(given: StatementMapping, has: Has): string | undefined {
  for (const [field, words] of [
    ['direction', 'directions'],
    ['status', 'statuses'],
    ['kind', 'kinds'],
  ] as const) {
    if (has(field) === (given[words] !== undefined)) continue;
    return has(field)
      ? `${words} is required: columns.${field} is named, and its words must be known`
      : `columns.${field} is required: ${words} says what its words mean`;
  }
  return undefined;
}

function timeProblem({ time: given }: StatementMapping, has: Has): string | undefined {
  if (has('time') !== (given !== undefined))
    return has('time')
      ? 'time.format is required: columns.time is named'
      : 'columns.time is required: time says how it is written';
  return given && needsOffset(given.format) && given.offset === undefined
    ? `time.offset is required: ${given.format} has no zone; write it like +03:00`
    : undefined;
}

/** Whether a time format has no zone of its own. */
export function needsOffset(format: TimeFormat): boolean {
  return format !== 'ISO' && format !== 'unix' && format !== 'unixMs';
}
