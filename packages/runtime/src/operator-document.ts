import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import {
  fileAnswer,
  type Operation,
  type OperatorApi,
  refusalBody,
  roleFor,
  TOTAL_ROWS_HEADER,
} from '@pesewa/contracts';
import { z } from 'zod';

const refusalsOf = ({ refusals = {} }: Operation) =>
  Object.entries(refusals).map(([code, status]) => ({ status, text: `${status} \`${code}\`` }));

/** The OpenAPI 3.1 document of a service's operator API. */
export function buildOperatorDocument(service: string, api: OperatorApi): object {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono();
  registry.registerComponent('securitySchemes', 'operatorToken', { type: 'http', scheme: 'bearer' });
  for (const [part, operations] of Object.entries(api))
    for (const [name, operation] of Object.entries(operations))
      registry.registerPath(routeOf(part, name, operation));
  return getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: `Pesewa operator API of ${service}`,
      version: '1',
      description:
        'On the operations port, for operators. Amounts are decimal text, times ISO 8601 in UTC. A list continues after ' +
        'its `next`. Every refusal has a code for programs and a message for people (ADR 60).',
    },
    tags: Object.keys(api).map((tag) => ({ name: tag })),
  });
}

const routeOf = (part: string, name: string, operation: Operation): RouteConfig => {
  const { method, path, summary, query, body, takesFile } = operation;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => [parameter, z.string()]);
  const json = body && { content: { 'application/json': { schema: body } } };
  const file = takesFile && { content: { 'text/csv': { schema: z.string() } } };
  return {
    method,
    path,
    operationId: `${part}.${name}`,
    tags: [part],
    summary,
    description: `The least role is ${describeCaller(operation)}.`,
    security: [{ operatorToken: [] }],
    request: {
      ...(parameters.length > 0 && { params: z.object(Object.fromEntries(parameters)) }),
      // Every declared query is an object, perhaps with a rule over all of it.
      ...(query && { query: query as z.ZodObject }),
      ...((json ?? file) && { body: json ?? file }),
    },
    responses: { ...answersOf(operation), ...refusedWith(operation) },
  };
};

const describeCaller = (operation: Operation): string => {
  const approver = `${roleFor(operation, { approves: '' })}, and not who proposed it`;
  if (operation.caller === 'second') return approver;
  const role = roleFor(operation);
  return operation.caller === undefined ? role : `${role}; with \`approves\` ${approver}`;
};

const answersOf = ({ answers, dryRun }: Operation): RouteConfig['responses'] =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]): [string, RouteConfig['responses'][string]] => {
      if (schema === fileAnswer) {
        const content = { 'text/csv': { schema: z.string() } };
        const description = 'how many records it has, where that is known';
        const headers = { [TOTAL_ROWS_HEADER]: { description, schema: { type: 'integer' as const } } };
        return [status, { description: 'a file, CSV or JSON', headers, content }];
      }
      const shown = dryRun && status === '200' ? z.union([schema, dryRun]) : schema;
      return [status, { description: 'done', content: { 'application/json': { schema: shown } } }];
    }),
  );

const common = [
  { status: 401, text: '401 `unauthenticated`' },
  { status: 403, text: '403 `forbidden`' },
] as const;

/** The refusals by status; each names its codes. */
const refusedWith = (operation: Operation): RouteConfig['responses'] => {
  const { query, body, method } = operation;
  const all = [
    ...common,
    ...(query || body ? [{ status: 400, text: '400 `invalid`' }] : []),
    ...(method === 'get' ? [] : [{ status: 403, text: '403 `role_required`' }]),
    ...refusalsOf(operation),
    { status: 503, text: '503 `unavailable`' },
  ];
  const statuses = [...new Set(all.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const texts = new Set(all.filter((one) => one.status === status).map(({ text }) => text));
      const description = [...texts].map((text) => text.slice(4)).join(', ');
      return [status, { description, content: { 'application/json': { schema: refusalBody } } }];
    }),
  );
};
