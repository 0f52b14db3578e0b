import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import {
  fileAnswer,
  type Operation,
  type Operations,
  operatorApis,
  refusalBody,
  roleFor,
  TOTAL_ROWS_HEADER,
} from '@pesewa/contracts';
import { z } from 'zod';
import { renderTable } from './markdown.ts';

/** A service with an operator API. */
export type OperatedService = keyof typeof operatorApis;

/** The services that have an operator API. */
export const operatedServices = Object.keys(operatorApis) as readonly OperatedService[];

/** Who may call an operation, in a table: the least role, and whether it takes another operator than the proposer. */
const callerOf = (operation: Operation): string =>
  operation.caller === 'second' ? `another ${roleFor(operation)}` : roleFor(operation);

type Api = Readonly<Record<string, Operations>>;

/** What every service has that consumes topics. */
const { parked, positions, caller } = operatorApis.ledger;
const shared: readonly Operations[] = [parked, positions, caller];

/** The operations of a service in the order of their parts. */
const operationsOf = (api: Api) =>
  Object.entries(api).flatMap(([part, operations]) =>
    Object.entries(operations).map(([name, operation]) => ({ part, name, operation })),
  );

/** The table of a service's own operations, for its README; its OpenAPI document has what each answers. */
export const renderOperatorApi = (service: OperatedService): string =>
  renderOperations(
    Object.fromEntries(
      Object.entries(operatorApis[service] as Api).filter(([, operations]) => !shared.includes(operations)),
    ),
  );

/** What the operator APIs have in common, and where the document of each is. */
export const renderOperatorOverview = (): string =>
  `# Operator APIs

On the operations port of each service, behind \`Authorization: Bearer <operator token>\` ([ADR 60](../adr/0060-operator-apis-have-one-shape.md)).
They are declared in \`packages/contracts/src/operations\`, and \`pesewa\` calls them. This page
and the documents are generated from there.

An operator's role is \`viewer\`, \`operator\`, \`approver\` or \`admin\`; each may do what the one before may. Tables of operations name the
least role; *another* is an operator who did not propose it.

${renderTable(
  ['service', 'operations', 'OpenAPI 3.1'],
  operatedServices.map((service) => [
    `[${service}](../../services/${service}/README.md)`,
    String(operationsOf(operatorApis[service]).length),
    `[${service}.openapi.json](${service}.openapi.json)`,
  ]),
)}
Every operation may refuse with 401 \`unauthenticated\` (no token) and 403 \`forbidden\` (a wrong one); with 400 \`invalid\` what can't be read; with 403
\`role_required\` what takes another role, where the shared token is a viewer in production; and with 503 \`unavailable\` if trying again
helps. Lists are \`{"items","next"}\`: \`next\` goes into \`cursor\` or \`after\` of the page after, and is null on the last page.

Every service has \`GET /operator\`. Those that consume topics also have these:

${renderOperations({ parked, positions })}`;

const renderOperations = (api: Api): string => {
  const rows = operationsOf(api).map(({ operation }) => {
    const { method, path, summary, query } = operation;
    const names = query === undefined ? [] : Object.keys((query as z.ZodObject).shape);
    const parameters = names.length === 0 ? '' : `?${names.map((name) => `${name}=`).join('&')}`;
    return [`\`${method.toUpperCase()} ${path}${parameters}\``, summary, callerOf(operation)];
  });
  return renderTable(['operation', 'does', 'by'], rows);
};

const refusalsOf = ({ refusals = {} }: Operation) =>
  Object.entries(refusals).map(([code, status]) => ({ status, text: `${status} \`${code}\`` }));

/** The OpenAPI 3.1 document of a service's operator API. */
export const renderOperatorDocument = (service: OperatedService): string => {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono();
  registry.registerComponent('securitySchemes', 'operatorToken', { type: 'http', scheme: 'bearer' });
  for (const { part, name, operation } of operationsOf(operatorApis[service]))
    registry.registerPath(routeOf(part, name, operation));
  const document = getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: `Pesewa operator API of ${service}`,
      version: '1',
      description:
        'On the operations port, for operators. Amounts are decimal text, times ISO 8601 in UTC. A list continues after ' +
        'its `next`. Every refusal has a code for programs and a message for people (ADR 60).',
    },
    tags: Object.keys(operatorApis[service]).map((tag) => ({ name: tag })),
  });
  return `${JSON.stringify(document, null, 2)}\n`;
};

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
    description: `The least role is ${roleFor(operation)}${operation.caller === 'second' ? ', and not who proposed it' : ''}.`,
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
