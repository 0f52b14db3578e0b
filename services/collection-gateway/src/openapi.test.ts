import { runInNewContext } from 'node:vm';
import { collectionRefusals, parseJson } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describedBody } from './fixtures/documented.ts';
import { openGateway, payinBody, rightHeaders } from './fixtures/gateway.ts';
import { createOpenApiDocument, operations, webhook } from './openapi.ts';

const media = z.object({
  'application/json': z.object({
    schema: z.record(z.string(), z.unknown()),
    examples: z.record(z.string(), z.object({ value: z.unknown() })),
  }),
});
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  security: z.array(z.unknown()),
  requestBody: z.object({ content: media }).optional(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.enum(['header', 'query']), required: z.boolean() }))
    .optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string(),
      content: media.optional(),
      headers: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});
const document = z.object({
  openapi: z.literal('3.1.0'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.partialRecord(z.enum(['get', 'post']), operation)),
  webhooks: z.record(z.string(), z.object({ post: operation })),
  components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
});

const statusOf = (transactionReference: string) => ({
  requestHeader: { clientId: '', requestType: 'Collections' },
  transactionReference,
  transactionCountry: 'GM',
});

const read = () => document.parse(JSON.parse(JSON.stringify(createOpenApiDocument())));
const all = () =>
  Object.entries(read().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );

describe('the OpenAPI document', () => {
  it('has every route of the API, and no other', () => {
    const routed = openGateway()
      .app.routes.filter(({ path, method }) => path.startsWith('/collection/') && method !== 'ALL')
      .map(({ path, method }) => `${method} ${path}`);
    const documented = all().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(documented.toSorted()).toEqual([...new Set(routed)].toSorted());
    expect(documented).toHaveLength(6);
  });

  it('says for each operation who may ask, with which headers', () => {
    for (const { described } of all()) {
      expect(described.security).toEqual([{ publicKey: [] }]);
      const headers = described.parameters?.filter((parameter) => parameter.in === 'header');
      expect(headers).toEqual([
        { name: 'X-app', in: 'header', required: true },
        ...(described.requestBody ? [{ name: 'X-module', in: 'header', required: true }] : []),
        ...['X-timestamp', 'X-digest', 'X-signature'].map((name) => ({
          name,
          in: 'header',
          required: false,
        })),
      ]);
      expect(described.responses['429']?.headers).toHaveProperty('Retry-After');
    }
    expect(new Set(all().map(({ described }) => described.operationId)).size).toBe(6);
    expect(Object.keys(read().webhooks)).toEqual(['collectionOutcome']);
    expect(read().components.securitySchemes['publicKey']).toMatchObject({
      in: 'header',
      name: 'X-business',
    });
  });

  it('has every failedReason, with the status that it goes with', () => {
    const documented = all().flatMap(({ described }) =>
      Object.entries(described.responses).flatMap(([status, { description }]) =>
        [...description.matchAll(/`([A-Z][A-Z ]+)`/g)].map(([, reason]) => `${reason} ${status}`),
      ),
    );
    const known = Object.entries(collectionRefusals).map(([reason, { status }]) => `${reason} ${status}`);
    expect([...new Set(documented)].toSorted()).toEqual(known.toSorted());
  });

  it('rejects status checks in four fields, whatever the status', () => {
    const responses = read().paths['/collection/v1/check-status']?.post?.responses ?? {};
    expect(Object.keys(responses)).toEqual(['200', '400', '429', '500', '503']);
    for (const status of ['400', '429', '500', '503']) {
      const example = responses[status]?.content?.['application/json'].examples['rejected']?.value;
      expect(example).toEqual({
        timestamp: '2026-01-15T12:00:00.000Z',
        status: Number(status),
        error: expect.any(String) as string,
        path: '/collection/v1/check-status',
      });
    }
  });

  it('shows numbers as numbers, and lets optional fields be empty', () => {
    const text = JSON.stringify(read().paths['/collection/v1/payin']);
    expect(text).toContain('"transactionAmount":{"type":"number"}');
    expect(text).toContain('"lengthOfOtp":{"type":"number"}');
    expect(text).toContain('"customerName":{"type":["string","null"],"maxLength":140}');
    expect(JSON.stringify(read().webhooks)).toContain('"amount_received":{"type":"number"}');
  });

  it('has examples that its own schemas take', () => {
    let checked = 0;
    for (const { responses, request } of [...operations, webhook]) {
      for (const body of [...Object.values(responses), request?.body]) {
        const documented = describedBody.safeParse(body);
        if (!documented.success) continue;
        const { schema, examples } = documented.data.content['application/json'];
        expect(Object.keys(examples)).not.toEqual([]);
        for (const { value } of Object.values(examples)) {
          const parsed = schema.safeParse(parseJson(JSON.stringify(value)));
          expect([value, parsed.error?.issues]).toEqual([value, undefined]);
          checked += 1;
        }
      }
    }
    expect(checked).toBeGreaterThan(40);
  });
});

describe('what needs no key', () => {
  const get = (path: string) => openGateway().app.request(path);

  it('the document', async () => {
    const response = await get('/openapi.json');
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(createOpenApiDocument())));
  });

  it('the viewer, which loads nothing from elsewhere', async () => {
    const page = await get('/docs');
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(html).toContain('<title>Pesewa collection API</title>');
    expect(html).not.toMatch(/https?:\/\//);
  });

  it('the viewer fills X-module in from the body that is sent, and the gateway takes it', async () => {
    const gateway = openGateway();
    const script = await (await gateway.app.request('/docs/start.js')).text();
    const started: { requestInterceptor: (request: object) => { headers: Record<string, string> } }[] = [];
    const bundle = Object.assign((options: (typeof started)[number]) => started.push(options), {
      presets: { apis: [] },
    });
    runInNewContext(script, { SwaggerUIBundle: bundle, JSON, btoa });
    const prepared = (request: object) => started[0]?.requestInterceptor(request).headers ?? {};
    const { 'x-module': _none, ...others } = rightHeaders('');
    const shown = { ...others, 'X-module': 'of the example' };
    for (const [path, body] of [
      ['payin', payinBody({ transactionAmount: 7.5, transactionReference: 'edited' })],
      [
        'complete-payin',
        payinBody({ transactionAmount: 7.5, transactionReference: 'edited', otpCode: '123456' }),
      ],
      ['check-status', { ...statusOf('edited') }],
    ] as const) {
      const headers = new Headers(prepared({ headers: { ...shown }, body: JSON.stringify(body) }));
      expect((await gateway.send({ path, body, headers })).status).toBe(200);
    }
    expect(prepared({ headers: { ...shown }, body: '{' })['X-module']).toBe('of the example');
    expect(prepared({ headers: { accept: 'any' } })).toEqual({ accept: 'any' });
  });
});
