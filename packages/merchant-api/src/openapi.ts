import { z } from 'zod';

/**
 * Lets the optional texts of a document also be empty or null, as the contract does (contract 2.2, 2.8): the schemas
 * that read requests treat those as absent before they check length or values.
 */
export function allowEmpty<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(allowEmpty) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, allowEmpty(inner)] as const);
  const schema: Record<string, unknown> = Object.fromEntries(entries);
  const { type } = schema as { readonly type?: unknown };
  if (Array.isArray(type) && type.includes('string') && type.includes('null')) {
    delete schema['minLength'];
    const values = z.array(z.unknown()).safeParse(schema['enum']);
    if (values.success) schema['enum'] = [...values.data.filter((one) => one !== null), '', null];
  }
  return schema as Value;
}
