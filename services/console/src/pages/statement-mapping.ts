import { type StatementMappingBody, statementMapping } from '@pesewa/contracts';
import { inWords, parseAnswer, RefusedError } from '@pesewa/operator-client';
import { z } from 'zod';
import type { Field, Folded } from '../view/form.ts';
import type { Given } from '../visits.ts';

/** What is asked in other words than its name. */
const labels: Readonly<Record<string, string>> = {
  'columns.reference': 'Our reference',
  delimiter: 'Between cells',
  decimal: 'Before decimals',
  grouping: 'Between thousands',
  header: 'A line names the columns',
  positive: 'A positive amount is a',
  holds: 'Every line is of',
  encoding: 'How letters are written',
  skipLines: 'Lines before the heading',
  setAside: 'Lines that are no payments begin with',
  'time.format': 'Times are written as',
  'time.offset': 'Times without a zone are ahead of UTC by, such as +03:00',
};

/** What can't be seen, or is no word. */
const signs: Readonly<Record<string, string>> = {
  ' ': 'space',
  '\t': 'tab',
  '': 'nothing',
  true: 'yes',
  false: 'no',
};

const groups = [
  ['Which column holds what: its name, or its place from 1', /^columns\./],
  ['How lines, amounts and times are written', /^(?:time\.)?\w+$/],
  [
    "What the rail's words mean, with commas between words of one meaning",
    /^(?:directions|statuses|kinds)\./,
  ],
] as const;

const leaves = leavesOf(statementMapping.shape);

/** Every option of a mapping by its path, such as `columns.amount`. */
function leavesOf(shape: z.core.$ZodShape, above = ''): readonly (readonly [string, z.core.$ZodType])[] {
  return Object.entries(shape).flatMap(([name, type]) => {
    const inner = bare(type);
    return inner instanceof z.ZodObject
      ? leavesOf(inner.shape, `${above}${name}.`)
      : [[`${above}${name}`, type] as const];
  });
}

function bare(type: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    type instanceof z.ZodOptional || type instanceof z.ZodDefault || type instanceof z.ZodReadonly;
  return isWrapped ? bare(type.unwrap()) : type;
}

const labelOf = (path: string): string => labels[path] ?? inWords(path.replace(/^columns\./, ''));

/** An option that a problem names: by a whole path, or as its subject. */
const named = new RegExp(
  leaves
    .map(([path]) => `\\b${path.replace('.', '\\.')}\\b${path.includes('.') ? '' : '(?= (?:is|must) )'}`)
    .join('|'),
  'g',
);

/** What is wrong with a mapping, with the labels of the fields in place of the options that it names. */
export const withLabels = (problem: string): string =>
  problem.replaceAll(named, (path) => `“${labelOf(path)}”`);

/** A field for an option; choices are JSON, so that a tab and a space arrive as they are. */
function fieldOf([path, type]: (typeof leaves)[number]): Field {
  const inner = bare(type);
  const common = { name: path, label: labelOf(path) };
  const choices =
    inner instanceof z.ZodEnum ? inner.options : inner instanceof z.ZodBoolean ? [true, false] : undefined;
  if (!choices) return { ...common, maxLength: 500 };
  const options = choices.map(
    (one) => [JSON.stringify(one), signs[String(one)] ?? inWords(String(one))] as const,
  );
  if (!(type instanceof z.ZodDefault)) return { ...common, options: [['', 'not said'], ...options] };
  return { ...common, value: JSON.stringify(type.def.defaultValue), options };
}

/** The fields for the columns of a statement, and those for the rest, folded. */
export const mappingFields = groups.map(([summary, isMeant], index): Folded => {
  const fields = leaves.filter(([path]) => isMeant.test(path)).map(fieldOf);
  return { summary, fields, isOpen: index === 0 };
});

/** The mapping as it was written, in JSON; the reconciler checks it. */
export function mappingText(given: Given): string {
  const text = given('mappingText');
  if (text !== undefined) return text;
  const mapping: Record<string, unknown> = {};
  for (const [path, type] of leaves) {
    const value = valueOf(bare(type), given(path));
    if (value === undefined) continue;
    const [outer = '', inner] = path.split('.');
    mapping[outer] = inner === undefined ? value : { ...(mapping[outer] as object), [inner]: value };
  }
  return JSON.stringify({ columns: {}, ...mapping });
}

function valueOf(type: z.core.$ZodType, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  if (type instanceof z.ZodEnum || type instanceof z.ZodBoolean) return parseAnswer(text);
  if (type instanceof z.ZodArray) return text.split(',').map((word) => word.trim());
  return /^\d{1,4}$/.test(text) ? Number(text) : text;
}

/** The mapping, to be kept under a name. */
export function mappingBody(given: Given): StatementMappingBody {
  const parsed = parseAnswer(mappingText(given));
  if (parsed !== undefined) return parsed as StatementMappingBody;
  throw new RefusedError('mappingText: this is no JSON', 422);
}
