/** An Avro field: its name, its type, and a default where it may be missing in older data. */
export interface AvroField {
  readonly name: string;
  readonly type: AvroSchema;
  readonly default?: null | string | number | boolean;
  readonly doc?: string;
}

/** An Avro record schema, as a literal. */
export interface AvroRecord {
  readonly type: 'record';
  readonly namespace: string;
  readonly name: string;
  readonly doc: string;
  readonly fields: readonly AvroField[];
}

/** The Avro schemas that our events are made of. */
export type AvroSchema =
  | 'null'
  | 'string'
  | 'long'
  | 'int'
  | 'boolean'
  | {
      readonly type: 'enum';
      readonly name: string;
      readonly symbols: readonly string[];
      readonly default?: string;
    }
  | { readonly type: 'array'; readonly items: AvroSchema }
  | readonly AvroSchema[];

/** The TypeScript type of a schema's values; a `long` is a bigint. */
export type AvroValue<Schema> = Schema extends 'null'
  ? null
  : Schema extends 'string'
    ? string
    : Schema extends 'long'
      ? bigint
      : Schema extends 'int'
        ? number
        : Schema extends 'boolean'
          ? boolean
          : Schema extends { readonly type: 'enum'; readonly symbols: readonly (infer Symbols)[] }
            ? Symbols
            : Schema extends { readonly type: 'array'; readonly items: infer Items }
              ? readonly AvroValue<Items>[]
              : Schema extends readonly (infer Branches)[]
                ? AvroValue<Branches>
                : never;

/** The TypeScript type of a record's values. */
export type AvroPayload<Schema extends AvroRecord> = {
  readonly [Field in Schema['fields'][number] as Field['name']]: AvroValue<Field['type']>;
};

/** The full name of a record, as the `event-type` header carries it. */
export type FullName<Schema extends AvroRecord> = `${Schema['namespace']}.${Schema['name']}`;

/** The full name of a record. */
export function fullName<Schema extends AvroRecord>(schema: Schema): FullName<Schema> {
  return `${schema.namespace}.${schema.name}`;
}

/** The fields that every event begins with: its own id, and when it happened (milliseconds since the epoch). */
export const envelope = [
  { name: 'eventId', type: 'string', doc: 'the same as in the header `event-id`' },
  { name: 'occurredAt', type: 'long', doc: 'when it happened, milliseconds since the epoch' },
] as const;

/** The fields that every event of a payment carries: our reference, the merchant's, and the wallet. */
export const payment = [
  { name: 'reference', type: 'string', doc: 'our transaction reference' },
  { name: 'merchantReference', type: 'string', doc: "the merchant's own reference" },
  { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' },
  { name: 'currency', type: 'string', doc: 'of all amounts, ISO 4217' },
] as const;
