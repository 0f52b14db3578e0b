import { deliveryOperations, ENDPOINTS_MAX, type EndpointView } from '@pesewa/contracts';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

/** Adds `webhooks …`: what merchants are owed. */
export function addWebhookCommands(program: Command, ports: CliPorts): void {
  const webhooks = program.command('webhooks').description('the webhooks that merchants are owed');
  const endpoints = webhooks
    .command('endpoints')
    .description("merchants' endpoints with open deliveries, those with the most failing ones first")
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const { items } = await operations.call('webhook-dispatcher', deliveryOperations.endpoints, {});
      ports.print(options.json ? formatJson(items) : endpointTable(items, ports.colours));
      if (!options.json && items.length === ENDPOINTS_MAX)
        ports.print(`these are the first ${ENDPOINTS_MAX}: there may be more\n`);
    });
  withExamples(endpoints, ['pesewa webhooks endpoints', 'pesewa webhooks endpoints --json']);
}

function endpointTable(endpoints: readonly EndpointView[], colours: boolean): string {
  return formatTable(
    ['MERCHANT', 'ENDPOINT', 'STATE', 'OWED', 'FAILING', 'OLDEST', 'NEXT ATTEMPT', 'LAST ANSWER'],
    endpoints.map((one) => [
      one.merchantId,
      one.endpoint,
      one.state,
      one.pending,
      one.failing,
      one.oldestBornAt,
      one.nextAt,
      [one.lastStatus, one.lastError].filter((part) => part !== null).join(', '),
    ]),
    { colours, empty: 'no webhooks are owed', right: ['OWED', 'FAILING'] },
  );
}
