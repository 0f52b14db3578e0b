import { readFile } from 'node:fs/promises';
import { signingSecretPattern, signRequest } from '@pesewa/signatures';
import { type Command, Option } from 'commander';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { addChangeOptions, requestChange } from '../settings-changes.ts';

interface SettingOptions {
  readonly requests?: 'required' | 'optional';
  readonly addSecret?: boolean;
  readonly removeSecret?: string;
}

interface SignOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
}

/** Where `sign-request` takes the secret from, so that it is in no history of a shell and no list of processes. */
const SECRET_VARIABLE = 'SIGNING_SECRET';

/** Adds `merchants set-signatures`: whether requests of a merchant must be signed, and by which secrets. */
export function addSignaturesCommand(merchants: Command, ports: CliPorts): void {
  const setSignatures = merchants
    .command('set-signatures')
    .description('proposes whether requests of a merchant must be signed, or other secrets for it')
    .argument('<merchant>', 'its id')
    .addOption(
      new Option(
        '--requests <requests>',
        'required: refuse requests without a right signature; optional: take them',
      ).choices(['required', 'optional']),
    )
    .option('--add-secret', 'make a new secret and show it now; two may live at a time')
    .option(
      '--remove-secret <digits>',
      'end a secret at once: the first 12 digits of its SHA-256, as merchants show has them',
    )
    .action(async (merchantId: string, options: SettingOptions, command: Command) => {
      const { requests, addSecret, removeSecret } = options;
      if (requests === undefined && !addSecret && removeSecret === undefined)
        throw new CliError('nothing to set: give --requests, --add-secret or --remove-secret');
      const body = {
        ...(requests !== undefined && { required: requests === 'required' }),
        ...(addSecret && { addSecret }),
        ...(removeSecret !== undefined && { removeSecret }),
      };
      await requestChange(ports, command, merchantId, { kind: 'signatures', body });
    });
  addChangeOptions(setSignatures, 'two');
  withExamples(setSignatures, [
    'pesewa merchants set-signatures demo --add-secret --reason "they begin to sign"',
    'pesewa merchants set-signatures demo --requests required --dry-run',
    'pesewa merchants set-signatures demo --add-secret --remove-secret 3fa9c2d1e0b4',
  ]);
}

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
