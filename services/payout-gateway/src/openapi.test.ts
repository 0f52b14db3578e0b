import { parseJson } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openTestApp } from './app.fixture.ts';
import { createOpenApiDocument, operations } from './openapi.ts';

const media = z.object({
  'application/json': z.object({ schema: z.record(z.string(), z.unknown()), example: z.unknown() }),
});
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  security: z.array(z.unknown()),
  requestBody: z.object({ content: media }).optional(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.enum(['header', 'query', 'path']), required: z.boolean() }))
    .optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: media.optional() })),
});
const document = z.object({
  openapi: z.literal('3.1.0'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.partialRecord(z.enum(['get', 'post']), operation)),
  webhooks: z.record(z.string(), z.object({ post: operation })),
  components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
});

/** A body as declared by an operation, with its schema. */
const described = z.object({
  content: z.object({
    'application/json': z.object({ schema: z.instanceof(z.ZodType), example: z.unknown() }),
  }),
});

const read = () => document.parse(JSON.parse(JSON.stringify(createOpenApiDocument())));
const all = () =>
  Object.entries(read().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );

describe('the OpenAPI document', () => {
  it('has every route of the API, and no other', () => {
    const routed = openTestApp()
      .routes.filter(({ path, method }) => path.startsWith('/api/') && method !== 'ALL')
      .map(({ path, method }) => `${method} ${path.replace(/:(\w+)/g, '{}')}`);
    const documented = all().map(
      ({ path, method }) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`,
    );
    expect(documented.toSorted()).toEqual(routed.toSorted());
    expect(documented).toHaveLength(11);
  });

  it('says for each operation what it answers and refuses, and who may ask', () => {
    for (const { described } of all()) {
      expect(described.security).toEqual([{ publicKey: [] }]);
      expect(described.parameters?.filter((parameter) => parameter.in === 'header')).toEqual(
        ['X-timestamp', 'X-digest', 'X-signature'].map((name) => ({ name, in: 'header', required: false })),
      );
      expect(Object.keys(described.responses)).toEqual(
        expect.arrayContaining(['200', '401', '403', '429', '500']),
      );
    }
    expect(new Set(all().map(({ described }) => described.operationId)).size).toBe(11);
    expect(Object.keys(read().webhooks)).toEqual(['payoutOutcome']);
  });

  it('shows amounts as numbers', () => {
    const text = JSON.stringify(read().paths['/api/v1/transactions/transfer/single']);
    expect(text).toContain('"amount":{"type":"number"}');
    expect(text).toContain('"feeAmount":{"type":"number"}');
  });

  it('lets optional fields be empty, as the contract does', () => {
    const [submit] = all();
    const schema = JSON.stringify(submit?.described.requestBody?.content['application/json'].schema);
    expect(schema).toContain('"narration":{"type":["string","null"],"maxLength":140}');
    expect(schema).toContain('"enum":["1","2","3","",null]');
  });

  it('has examples that its own schemas take', () => {
    let checked = 0;
    for (const { responses, request } of operations) {
      for (const body of [...Object.values(responses), request?.body]) {
        const documented = described.safeParse(body);
        if (!documented.success) continue;
        const { schema, example } = documented.data.content['application/json'];
        expect(schema.safeParse(parseJson(JSON.stringify(example)))).toMatchObject({ success: true });
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(40);
  });
});

describe('what needs no key', () => {
  const get = (path: string) => openTestApp().request(path);

  it('the document', async () => {
    const response = await get('/openapi.json');
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(createOpenApiDocument())));
  });

  it('the viewer, which loads nothing from elsewhere', async () => {
    const page = await get('/docs');
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(html).not.toMatch(/https?:\/\//);
    const loaded = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(loaded).toHaveLength(3);
    for (const path of loaded) {
      const file = await get(path);
      expect([path, file.status, file.headers.get('x-content-type-options')]).toEqual([path, 200, 'nosniff']);
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  it('flags, kept for long', async () => {
    const flag = await get('/flags/gh.svg');
    expect(flag.status).toBe(200);
    expect(flag.headers.get('content-type')).toBe('image/svg+xml');
    expect(flag.headers.get('cache-control')).toContain('immutable');
    expect(await flag.text()).toContain('<svg');
  });
});
