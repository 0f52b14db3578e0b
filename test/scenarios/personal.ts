/** The fields of both requests that no operator may read; of numbers only the last four digits are shown. */
const personalFields = new Set([
  'accountName',
  'accountNumber',
  'phoneNumber',
  'name',
  'email',
  'customerName',
  'customerEmail',
  'customerNumber',
]);

/** Every value of a personal field in a request's body, and each single word of a name. */
export function personalIn(value: unknown, field = ''): readonly string[] {
  if (typeof value === 'string') {
    if (!personalFields.has(field) || value === '') return [];
    return field.toLowerCase().endsWith('name') ? [value, ...value.split(' ')] : [value];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => personalIn(inner, name));
}
