import { deliveryOperations, ENDPOINTS_MAX, endpointCounts, endpointOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { addAct, addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';

/** Adds `webhooks endpoints`, and `webhooks enable`: a disabled endpoint gets what was kept for it. */
export function addEndpointCommands(webhooks: Command, ports: CliPorts): void {
  const service = 'webhook-dispatcher';
  const counted = { pending: 'OWED', failing: 'FAILING', deferred: 'DEFERRED', exhausted: 'GIVEN UP' };
  addList(webhooks, ports, {
    name: 'endpoints',
    operation: deliveryOperations.endpoints,
    service,
    description: "merchants' endpoints that fail, or with webhooks open or given up, disabled ones first",
    columns: [
      ['MERCHANT', ({ merchantId }) => merchantId],
      'endpoint',
      'state',
      ...endpointCounts.map(
        (name) =>
          [
            counted[name],
            (one: { readonly cut: readonly string[] } & Readonly<Record<typeof name, number>>) =>
              one.cut.includes(name) ? `${one[name]}+` : one[name],
          ] as const,
      ),
      ['FAILS SINCE', ({ failingSince }) => failingSince],
      ['LAST SUCCESS', ({ lastSuccessAt }) => lastSuccessAt],
      ['OLDEST', ({ oldestCreatedAt }) => oldestCreatedAt],
      ['NEXT ATTEMPT', ({ nextAt }) => nextAt],
      [
        'LAST ANSWER',
        ({ lastStatus, lastError }) => [lastStatus, lastError].filter((part) => part !== null).join(', '),
      ],
    ],
    empty: 'no webhooks are owed',
    more: ({ length }) =>
      length === ENDPOINTS_MAX ? `these are the first ${ENDPOINTS_MAX}: there may be more` : undefined,
    examples: ['', '--json'],
  });
  addAct(webhooks, ports, {
    name: 'enable',
    operation: endpointOperations.enable,
    service,
    description: 'enables an endpoint that was disabled, and sends what was kept for it',
    arguments: ['merchantId', 'endpoint'],
    names: { merchantId: 'merchant' },
    help: { endpoint: 'payouts, collections, or the origin of the address: see pesewa webhooks endpoints' },
    said: ({ merchantId, endpoint, enabled, waiting, failingSince }) =>
      `${endpoint} of ${merchantId} ${enabled ? 'is enabled' : 'would be enabled'}: webhooks that wait for it: ${waiting.toLocaleString('en')}; it had failed since ${failingSince}\n`,
    examples: ['demo payouts --dry-run', 'demo payouts', 'demo https://shop.example'],
  });
}
