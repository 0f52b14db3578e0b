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

/** A service with an operator API. */
export type OperatedService = keyof typeof operatorApis;

/** The services that have an operator API. */
export const operatedServices = Object.keys(operatorApis) as readonly OperatedService[];

/** Who may call an operation, in a list: the least role, and whether it takes another operator than the proposer. */
const callerOf = (operation: Operation): string => {
  if (operation.caller === 'second') return `another ${roleFor(operation)}`;
  return operation.caller === undefined
    ? roleFor(operation)
    : `${roleFor(operation)}; \`approves\`: another ${approverOf(operation)}`;
};

/** The role that an operation takes if its body has `approves`. */
const approverOf = (operation: Operation) => roleFor(operation, { approves: '' });

type Api = Readonly<Record<string, Operations>>;

/** What every service has that consumes topics. */
const { parked, positions, caller, actions, health } = operatorApis.ledger;
const shared: readonly Operations[] = [parked, positions, caller, actions, health];

/** The operations of a service in the order of their parts. */
const operationsOf = (api: Api) =>
  Object.entries(api).flatMap(([part, operations]) =>
    Object.entries(operations).map(([name, operation]) => ({ part, name, operation })),
  );

/** The list of a service's own operations, for its README; its OpenAPI document has what each answers. */
export const renderOperatorApi = (service: OperatedService): string =>
  renderOperations(
    Object.fromEntries(
      Object.entries(operatorApis[service] as Api).filter(([, operations]) => !shared.includes(operations)),
    ),
  );

/** What the operator APIs have in common, and where the document of each is. */
export const renderOperatorOverview = (): string =>
  `# Operator APIs

On the operations port of each service, behind \`Authorization: Bearer <operator token>\`. This page and the documents are generated from
\`packages/contracts/src/operations\`:

${operatedServices
  .map(
    (service) => `- [${service}](../../services/${service}/README.md): [OpenAPI](${service}.openapi.json)\n`,
  )
  .join('')}
Refusals and lists are those of [ADR 60](../adr/0060-operator-apis-have-one-shape.md): a list's \`next\` goes into \`cursor\` or \`after\` of the
next page, and is null on the last.

Every service has \`GET /operator\`, \`GET /health\`, and \`GET /actions?operator=&object=&from=&to=\` with what operators did. Consumers also have these:

${renderOperations({ parked, positions })}
## Roles

A \`viewer\` looks. An \`operator\` also acts and proposes. An \`approver\` also approves what another operator proposed. An \`admin\` also
proposes merchants' settings, and alone creates or suspends a merchant or removes a key. Lists of operations name the least role; *another*
is one who did not propose it. A lesser role gets 403 \`role_required\`. The holder of the shared \`OPERATOR_TOKEN\` is named \`operator\`
and in production is a \`viewer\`, else an \`admin\`.
`;

const renderOperations = (api: Api): string => {
  const lines = operationsOf(api).map(({ operation }) => {
    const { method, path, summary, query } = operation;
    const names = query === undefined ? [] : Object.keys((query as z.ZodObject).shape);
    const parameters = names.length === 0 ? '' : `?${names.map((name) => `${name}=`).join('&')}`;
    const does = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
    return `- \`${method.toUpperCase()} ${path}${parameters}\` (${callerOf(operation)}) ${does}\n`;
  });
  return lines.join('');
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
  const approver = `${approverOf(operation)}, and not who proposed it`;
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
