import { encodeHeader, jsonNumberPattern, moduleText } from '@pesewa/contracts';
import type { Command } from 'commander';
import { readReference } from '../arguments.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

interface ModuleOptions {
  readonly reference: string;
  readonly amount?: string;
  readonly number?: string;
}

/** Adds `x-module`: the header that a collection request must carry (contract 5, 10.13). */
export function addModuleCommand(program: Command, ports: CliPorts): void {
  const module = program
    .command('x-module')
    .description('the value of the header X-module for a request to the collection API; asks no service')
    .requiredOption('--reference <reference>', 'the transactionReference of the body')
    .option('--amount <amount>', 'of payin and complete-payin: transactionAmount, as the body writes it')
    .option('--number <number>', 'of payin and complete-payin: customerNumber, as the body writes it')
    .action((options: ModuleOptions) => {
      ports.print(`${encodeHeader(textOf(options))}\n`);
    });
  withExamples(module, [
    'pesewa x-module --amount 100.50 --reference order-1 --number 2207001234',
    'pesewa x-module --reference order-1',
  ]);
}

/** Of a status check the reference alone is encoded, of payin and complete-payin all three. */
function textOf({ amount, number, ...options }: ModuleOptions): string {
  const reference = readReference('--reference', options.reference);
  if (amount === undefined && number === undefined) return reference;
  if (amount === undefined || number === undefined) {
    const missing = amount === undefined ? '--amount' : '--number';
    throw new CliError(
      `${missing}: payin and complete-payin need all three; for check-status give --reference alone`,
    );
  }
  if (!jsonNumberPattern.test(amount))
    throw new CliError(`--amount: ${amount} is no JSON number: write it as your body does, such as 100.50`);
  if (!/^\+?\d{6,15}$/.test(number))
    throw new CliError(
      `--number: ${number} is no customerNumber: write 6 to 15 digits, after at most one plus sign`,
    );
  return moduleText({ amount, reference, number });
}
