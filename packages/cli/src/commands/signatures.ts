import { readFile } from 'node:fs/promises';
import { signingSecretPattern, signRequest } from '@pesewa/signatures';
import type { Command } from 'commander';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

interface SignOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** Where `sign-request` takes the secret from, so that it is in no history of a shell and no list of processes. */
const SECRET_VARIABLE = 'SIGNING_SECRET';

/** Adds `sign-request`: the headers of a signed request (contract 10.21). */
export function addSignRequestCommand(program: Command, ports: CliPorts): void {
  const sign = program
    .command('sign-request')
    .description(
      `the headers of a signed request, one in a line; the secret is in ${SECRET_VARIABLE}; asks no service`,
    )
    .requiredOption('--path <path>', 'the path with its query, as it is sent')
    .option('--method <method>', 'the method', 'POST')
    .option('--body <file>', 'the file that is sent as the body (default: no body)')
    .action(async (options: SignOptions) => {
      const secret = ports.environment[SECRET_VARIABLE] ?? '';
      if (!signingSecretPattern.test(secret))
        throw new CliError(
          `${SECRET_VARIABLE}: put the signing secret of the merchant there, rqsec_ and more`,
        );
      const seconds = Math.floor(ports.clock.nowMs() / 1_000);
      const body = options.body === undefined ? '' : await readBody(options.body);
      const headers = signRequest({ ...targetOf(options), body, seconds, secret });
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
      ports.print(lines.join(''));
    });
  withExamples(sign, [
    'pesewa sign-request --path /api/v1/transactions/transfer/single --body payout.json',
    'pesewa sign-request --method GET --path "/api/v1/transactions?limit=10"',
  ]);
}

function targetOf({ method, path }: SignOptions) {
  if (!/^[A-Z]{1,16}$/.test(method))
    throw new CliError(`--method: ${method} is no method: write it in capitals, such as POST`);
  if (!/^\/[!-~]*$/.test(path))
    throw new CliError(
      '--path: write it as it is sent: from its first slash on, with the query, and encoded',
    );
  return { method, target: path };
}

async function readBody(file: string): Promise<Uint8Array> {
  return readFile(file).catch((error: unknown) => {
    throw new CliError(`--body: ${file} can not be read`, { cause: error });
  });
}
