import type { ConsumerGroup } from '@pesewa/contracts';
import type { ServiceAddress } from './ask.ts';
import { CliError, messageOf } from './errors.ts';

/** The services that consume topics. */
const services: Readonly<Record<ConsumerGroup, ServiceAddress>> = {
  'payout-gateway': 'payoutGatewayUrl',
  'collection-gateway': 'collectionGatewayUrl',
  ledger: 'ledgerUrl',
  reconciler: 'reconcilerUrl',
  'webhook-dispatcher': 'webhookDispatcherUrl',
};

/** A service that consumes topics, and so has positions and parks messages. */
export type ConsumingService = ConsumerGroup;

/** Every service that consumes topics. */
export const consumingServices = Object.keys(services) as readonly ConsumingService[];

/** The address of a service that consumes topics. */
export const addressOf = (service: ConsumingService): ServiceAddress => services[service];

/** The items of several services. */
export interface Answers<Item> {
  readonly items: readonly Item[];
  /** The services that gave no answer, and why. */
  readonly missing: readonly { readonly service: ConsumingService; readonly why: string }[];
}

/** Asks one service, or all at once; the items of the others are given even if one does not answer. */
export async function askEvery<Item>(
  service: ConsumingService | undefined,
  ask: (service: ConsumingService) => Promise<readonly Item[]>,
): Promise<Answers<Item>> {
  const asked = service ? [service] : consumingServices;
  const answers = await Promise.allSettled(asked.map(ask));
  const items = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const missing = asked.flatMap((name, index) => {
    const answer = answers[index];
    return answer?.status === 'rejected' ? [{ service: name, why: messageOf(answer.reason) }] : [];
  });
  return { items, missing };
}

/** Fails the command if a service gave no answer. */
export function requireAllAnswers({ missing }: Pick<Answers<unknown>, 'missing'>): void {
  const [first] = missing;
  if (first)
    throw new CliError(`no answer from ${missing.map(({ service }) => service).join(', ')}: ${first.why}`);
}
