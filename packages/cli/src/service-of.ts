import { type ConsumerGroup, consumerGroups } from '@pesewa/contracts';
import { CliError } from './errors.ts';

/** The service that has parked a message; ids begin with its name. */
export function serviceOf(id: string): ConsumerGroup {
  const service = consumerGroups.find((name) => id.startsWith(`${name}/`));
  if (service) return service;
  throw new CliError(`id: ${id} is of no service: see pesewa parked list`);
}
