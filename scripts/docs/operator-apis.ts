import { type Operation, type Operations, type OperatorApi, operatorApis, roleFor } from '@pesewa/contracts';
import type { z } from 'zod';

/** A service with an operator API. */
export type OperatedService = keyof typeof operatorApis;

/** The services that have an operator API. */
export const operatedServices = Object.keys(operatorApis) as readonly OperatedService[];

/** Who may call an operation, in a list: the least role, and whether it takes another operator than the proposer. */
const callerOf = (operation: Operation): string => {
  if (operation.caller === 'second') return `another ${roleFor(operation)}`;
  return operation.caller === undefined
    ? roleFor(operation)
    : `${roleFor(operation)}; \`approves\`: another ${roleFor(operation, { approves: '' })}`;
};

/** What every service has that consumes topics. */
const { parked, positions, caller, actions, health } = operatorApis.ledger;
const shared: readonly Operations[] = [parked, positions, caller, actions, health];

/** The list of a service's own operations, for its README; its OpenAPI document has what each answers. */
export const renderOperatorApi = (service: OperatedService): string =>
  renderOperations(
    Object.fromEntries(
      Object.entries(operatorApis[service] as OperatorApi).filter(
        ([, operations]) => !shared.includes(operations),
      ),
    ),
  );

/** What the operator APIs have in common. */
export const renderOperatorOverview = (): string =>
  `# Operator APIs

On the operations port of each service, behind \`Authorization: Bearer <operator token>\`; \`GET /openapi.json\` there is its OpenAPI
document. The document and this page come from \`packages/contracts/src/operations\`:

${operatedServices.map((service) => `- [${service}](../../services/${service}/README.md)\n`).join('')}
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

const renderOperations = (api: OperatorApi): string => {
  const operations = Object.values(api).flatMap((part) => Object.values(part));
  const lines = operations.map((operation) => {
    const { method, path, summary, query } = operation;
    const names = query === undefined ? [] : Object.keys((query as z.ZodObject).shape);
    const parameters = names.length === 0 ? '' : `?${names.map((name) => `${name}=`).join('&')}`;
    const does = `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`;
    return `- \`${method.toUpperCase()} ${path}${parameters}\` (${callerOf(operation)}) ${does}\n`;
  });
  return lines.join('');
};
