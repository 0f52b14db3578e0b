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

/** The generated parts of the operator APIs' page: the services, and the operations that each has. */
export const renderOperatorOverview = (): Readonly<Record<'services' | 'shared', string>> => ({
  services: operatedServices
    .map((service) => `- [${service}](../../services/${service}/README.md)\n`)
    .join(''),
  shared: renderOperations({ parked, positions }),
});

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
