import type { Operation } from '@pesewa/contracts';
import { z } from 'zod';

/** What is given of a request, by the names of its fields. */
export type Given = Readonly<Record<string, unknown>>;

/** A field of a request, as its operation declares it. */
export interface Field {
  readonly name: string;
  readonly part: 'parameters' | 'query' | 'body';
  readonly schema: z.ZodType;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The values that it can have, if they are few. */
  readonly choices: readonly string[] | undefined;
  /** What a field is that is there or not. */
  readonly flag: true | 'true' | undefined;
  /** What stands for its value in help, if not its name. */
  readonly placeholder: string | undefined;
  readonly isTime: boolean;
  readonly isCount: boolean;
  /** Whether `none` takes it away. */
  readonly isNullable: boolean;
  /** Whether it may be given several times. */
  readonly isMany: boolean;
  /** The greatest value of a count. */
  readonly most: number | undefined;
}

/** The fields of a request in the order of their declaration. */
export function fieldsOf({ path, query, body }: Operation): readonly Field[] {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => fieldOf(name, 'parameters', z.string())),
    ...Object.entries(shapeOf(query)).map(([name, schema]) => fieldOf(name, 'query', schema)),
    ...Object.entries(shapeOf(body)).map(([name, schema]) => fieldOf(name, 'body', schema)),
  ];
}

const placeholders: Readonly<Record<string, string>> = {
  approves: 'operator',
  payoutsUrl: 'url',
  collectionsUrl: 'url',
  reason: 'text',
  note: 'text',
  despite: 'text',
  version: 'version',
};

function fieldOf(name: string, part: Field['part'], schema: z.ZodType): Field {
  const { core, meta } = unwrap(schema);
  const { type, format, values } = core._zod.def as { type: string; format?: string; values?: unknown[] };
  const codes = core instanceof z.ZodArray ? unwrap(core.element).core : core;
  const isTime = type === 'string' && format === 'datetime';
  const isCount = part === 'body' && meta?.['type'] === 'number';
  return {
    name,
    part,
    schema,
    description: meta?.description,
    isRequired: !schema.safeParse(undefined).success,
    choices: codes instanceof z.ZodEnum ? codes.options.map(String).filter(Boolean) : undefined,
    flag:
      type === 'boolean' || (type === 'literal' && values?.[0] === true)
        ? true
        : type === 'literal'
          ? 'true'
          : undefined,
    placeholder:
      placeholders[name] ??
      (isTime ? 'time' : isCount ? 'count' : type === 'record' ? 'currency:amount' : undefined),
    isTime,
    isCount,
    isNullable: schema.safeParse(null).success,
    isMany: type === 'array' || type === 'record',
    most: typeof meta?.['maximum'] === 'number' ? meta['maximum'] : undefined,
  };
}

/** A schema without what makes it optional or changes its value, and what is said of it; the outermost counts. */
function unwrap(schema: z.core.$ZodType): {
  readonly core: z.core.$ZodType;
  readonly meta: z.core.GlobalMeta | undefined;
} {
  const own = z.globalRegistry.get(schema);
  const { innerType, in: input } = schema._zod.def as { innerType?: z.core.$ZodType; in?: z.core.$ZodType };
  const inner = innerType ?? input;
  if (inner === undefined) return { core: schema, meta: own };
  const { core, meta } = unwrap(inner);
  return { core, meta: own || meta ? { ...meta, ...own } : undefined };
}

type Shape = Readonly<Record<string, z.ZodType>>;

const shapeOf = (schema: z.core.$ZodType | undefined): Shape =>
  schema instanceof z.ZodObject ? schema.shape : {};

/** The fields of an operation's answer, or of the items of its list. */
export function schemaOf({ answers }: Operation, list?: 'items'): Shape {
  const shape = shapeOf(Object.values(answers)[0]);
  const items = shape['items'];
  return list && items instanceof z.ZodArray ? shapeOf(items.element) : shape;
}

/** Whether a field has one of a few codes, or anything at all. */
export const kindOf = (schema: z.ZodType | undefined): 'code' | 'anything' | undefined => {
  const core = schema && unwrap(schema).core;
  return core instanceof z.ZodEnum ? 'code' : core instanceof z.ZodUnknown ? 'anything' : undefined;
};
