import specs from '@asyncapi/specs';
import { allSchemas, type Topic, topics } from '@pesewa/contracts';
import { Ajv, type SchemaObject } from 'ajv';
import { describe, expect, it } from 'vitest';
import { createAsyncApiDocument } from './asyncapi.ts';

const document: unknown = JSON.parse(JSON.stringify(createAsyncApiDocument()));

/** What a JSON pointer of the document leads to. */
function at(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], document);
}

function referencesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('$ref' in value) return [String(value.$ref)];
  return Object.values(value).flatMap(referencesOf);
}

describe('the AsyncAPI document', () => {
  // The formats are of texts (e-mail, URI); the document has none.
  const ajv = new Ajv({ meta: false, strict: false, validateSchema: false, validateFormats: false });
  const validate = ajv.compile(specs.schemas['3.0.0'] as SchemaObject);

  it('is valid AsyncAPI 3.0, with valid Avro', () => {
    validate(document);
    expect(validate.errors).toBeNull();
  });

  it('would not be valid with another Avro type, nor with a topic without partitions', () => {
    const text = JSON.stringify(document);
    expect(validate(JSON.parse(text.replace('"type":"long"', '"type":7')))).toBe(false);
    expect(validate(JSON.parse(text.replace('"partitions":8', '"partitions":0')))).toBe(false);
  });

  it('has only references that lead somewhere', () => {
    const references = new Set(referencesOf(document));
    expect(references.size).toBeGreaterThan(allSchemas().length);
    expect([...references].filter((reference) => at(reference) === undefined)).toEqual([]);
  });

  it('has every topic with all its events', () => {
    for (const [name, topic] of Object.entries<Topic>(topics)) {
      expect(at(`#/channels/${name}`)).toMatchObject({ address: topic.name });
      const messages = at(`#/channels/${name}/messages`) as Readonly<Record<string, unknown>>;
      expect(Object.keys(messages)).toEqual(topic.events.map((schema) => schema.name));
    }
  });
});
