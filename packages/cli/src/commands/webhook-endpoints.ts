import { endpointOperations } from '@pesewa/contracts';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';

interface EnableOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Adds `webhooks enable`: a disabled endpoint gets what was kept for it. */
export function addEnableEndpointCommand(webhooks: Command, ports: CliPorts): void {
  const enable = webhooks
    .command('enable')
    .description('enables an endpoint that was disabled, and sends what was kept for it')
    .argument('<merchant>', 'whose endpoint it is')
    .argument(
      '<endpoint>',
      'payouts, collections, or the origin of the address: see pesewa webhooks endpoints',
    )
    .option('--dry-run', 'say how many webhooks wait for it, and enable nothing')
    .option('--json', 'print JSON')
    .action(async (merchantId: string, endpoint: string, options: EnableOptions, command: Command) => {
      const { operations } = await openContext(ports, command);
      const body = { merchantId, endpoint, ...(options.dryRun && { dryRun: true }) };
      const enabled = await operations.call('webhook-dispatcher', endpointOperations.enable, { body });
      if (options.json) return ports.print(formatJson(enabled));
      const done = enabled.enabled ? 'is enabled' : 'would be enabled';
      ports.print(
        `${endpoint} of ${merchantId} ${done}: webhooks that wait for it: ${enabled.waiting.toLocaleString('en')}; it had failed since ${enabled.failingSince}\n`,
      );
    });
  withExamples(enable, [
    'pesewa webhooks enable demo payouts --dry-run',
    'pesewa webhooks enable demo payouts',
    'pesewa webhooks enable demo https://shop.example',
  ]);
}
