import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  type CompletionFlow,
  type MobileOperator,
  mobileOperators,
  servedCountries,
} from '@pesewa/contracts';
import { verifyWebhook } from '@pesewa/signatures';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openLossyRoad } from '../samples/lossy-road.ts';
import { languages, runProgram } from '../samples/programs.ts';
import { openCompactScenario, type Scenario } from '../scenarios/scenario.ts';
import { readPage } from './pages.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openCompactScenario('conform-docs');
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const root = path.join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const json = (text: string): unknown => JSON.parse(text);
/** The page with an example of each flow of a collection. */
const FLOWS = 'docs/api/collection-flows.md';
const pages = [
  'docs/api/README.md',
  'docs/api/keys.md',
  'docs/api/payouts.md',
  'docs/api/balances-processors-names.md',
  'docs/api/collections.md',
  FLOWS,
  'docs/api/callbacks.md',
];
const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8');

describe.each(pages)('the commands of %s', (file) => {
  it('print what the page shows', async () => {
    const page = readPage(await read(file));
    expect(page.commands).not.toEqual([]);
    await using folder = await checkoutFolder();
    const { settings } = readPage(await read('docs/api/README.md'));
    const environment = await evaluate(`${settings}${page.settings}`, folder.path);
    for (const { script, prints, isRepeatable, expected } of page.commands) {
      const follow = async () => {
        const options = { cwd: folder.path, env: environment };
        const { stdout } = await run('sh', ['-euc', script], options);
        const printed = prints === 'webhook' ? provenBody(stdout) : stdout.trim();
        expect(prints === 'text' ? printed : json(printed)).toEqual(expected);
        return printed;
      };
      const printed = await (isRepeatable ? eventually(follow) : follow());
      if (file === FLOWS && prints === 'webhook') await expectStatusOf(printed);
    }
  });
});

/** The environment of a reader whose shell has evaluated the settings, with all variables exported. */
async function evaluate(settings: string, cwd: string): Promise<NodeJS.ProcessEnv> {
  const shown = `'${process.execPath}' -p 'JSON.stringify(process.env)'`;
  const { stdout } = await run('sh', ['-aeuc', `${settings}\n${shown}`], { cwd });
  return z.record(z.string(), z.string()).parse(json(stdout));
}

const receivedWebhooks = z.object({
  webhooks: z.array(z.object({ headers: z.record(z.string(), z.string()), body: z.string() })),
});

/** The body of the only webhook that the merchant received, once its signature is verified. */
function provenBody(stdout: string): string {
  const { webhooks } = receivedWebhooks.parse(json(stdout));
  expect(webhooks).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: '' }] = webhooks;
  expect(isSigned(headers, body)).toBe(true);
  return body;
}

const collectionWebhook = z.object({
  merchant_reference: z.string(),
  currency_code: z.string(),
  status: z.string(),
});

/** Expects check-status to say what the webhook of a collection says. */
async function expectStatusOf(webhook: string): Promise<void> {
  const { merchant_reference: reference, currency_code, status } = collectionWebhook.parse(json(webhook));
  const country = mobileOperators.find(({ currency }) => currency === currency_code)?.country;
  if (!country) throw new TypeError(`no country collects ${currency_code}`);
  const responseDetails = await scenario.demo.checkCollection({ reference, country });
  expect(responseDetails).toEqual({ responseCode: '00', responseMessage: status });
}

describe('the mobile operators of collections.md', () => {
  it('are those of the contract, with their country, currency and flows (contract 2.8)', async () => {
    const rows = (await read('docs/api/collections.md')).match(/^\| `[A-Z]{5}`.*$/gm) ?? [];
    const wanted = mobileOperators.flatMap(mobileOperatorRows).map((row) => row.join(' | '));
    expect(rows.flatMap(singleRows).toSorted()).toEqual(wanted.toSorted());
  });

  it('lead each to the section of its flow', async () => {
    const page = await read(FLOWS);
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const anchors = headings.map((heading) => heading.toLowerCase().replaceAll(',', '').replaceAll(' ', '-'));
    expect(anchors).toEqual(expect.arrayContaining(Object.values(flowAnchors)));
  });
});

const flowAnchors = {
  link: 'link',
  stk: 'stk-push',
  stkThenComplete: 'stk-push-then-completion',
  otp: 'otp',
} as const;

/** A row of the page as rows of one mobile operator and one transactionType each. */
function singleRows(line: string): readonly string[] {
  const cells = line.split('|').map((cell) => cell.trim().replaceAll('`', ''));
  const [codes = '', country, currency, requestType, types = '', flow] = cells.slice(1, -1);
  return codes
    .split(', ')
    .flatMap((code) =>
      types.split(', ').map((type) => [code, country, currency, requestType, type, flow].join(' | ')),
    );
}

/** The rows that a mobile operator must have: one, or one per transactionType if its country requires that field. */
function mobileOperatorRows({
  code,
  country,
  currency,
  flows,
}: MobileOperator): readonly (readonly string[])[] {
  const row = (type: string, flow: CompletionFlow) => [
    code,
    country,
    currency,
    servedCountries[country].collections.requestType,
    type,
    `[${flowName(flow)}](collection-flows.md#${flowAnchors[flow.kind]})`,
  ];
  return servedCountries[country].collections.needsTransactionType
    ? [row('1', flows.highRisk), row('2', flows.lowRisk)]
    : [row('–', flows.highRisk)];
}

function flowName(flow: CompletionFlow): string {
  if (flow.kind === 'otp') return `OTP of ${flow.otpLength} digits`;
  return { link: 'link', stk: 'STK push', stkThenComplete: 'STK push, then completion' }[flow.kind];
}

const isSigned = (headers: Readonly<Record<string, string>>, body: string): boolean =>
  verifyWebhook({ headers, body, secrets: [demo().webhookSecret], nowMs: Date.now(), toleranceSeconds: 300 })
    .ok;

const signingSample = z.object({
  signed: z.function({
    input: [z.string(), z.string(), z.string()],
    output: z.record(z.string(), z.string()),
  }),
});

it('the sample of callbacks.md signs as we verify', async () => {
  const file = path.join(root, 'docs/api/samples/node/sign-callback.mjs');
  const module: unknown = await import(pathToFileURL(file).href);
  const { signed } = signingSample.parse(module);
  const headers = signed('evt-1', '{"a":1}', demo().webhookSecret);
  expect(isSigned(headers, '{"a":1}')).toBe(true);
  expect(isSigned(headers, '{"a":2}')).toBe(false);
});

// The languages run side by side, because a program waits more than it works.
describe.concurrent.each(languages)('the programs in $title', (language) => {
  // The title says so if the machine lacks the language.
  it.runIf(language.isHere)('pay once, whatever is lost on the way', async () => {
    const { transferUrl } = scenario.stack.runFile();
    await using road = await openLossyRoad(transferUrl);
    const reference = scenario.reference(`pay-${language.name}`);
    const environment = { PAYOUT_API: road.url, PUBLIC_KEY: demo().publicKey };
    const done = await runProgram(language, 'payout', environment, [reference]);
    expect(done).toEqual({ code: 0, stdout: `${reference} COMPLETED\n`, stderr: '' });
    expect(road.lost()).toEqual(['POST', 'POST', 'GET']);
    const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
    expect(await scenario.executions(ours)).toBe(1);
  });

  // As above.
  it.runIf(language.isHere)('collect once, whatever is lost on the way', async () => {
    const { collectionsUrl } = scenario.stack.runFile();
    await using road = await openLossyRoad(collectionsUrl);
    const reference = scenario.reference(`collect-${language.name}`);
    const environment = { COLLECTION_API: road.url, PUBLIC_KEY: demo().publicKey };
    const done = await runProgram(language, 'collection', environment, [reference]);
    expect(done).toEqual({ code: 0, stdout: `${reference} COMPLETED\n`, stderr: '' });
    expect(road.lost()).toHaveLength(3);
    const webhook = await eventually(async () => {
      const [received] = await scenario.stack.simulator.received('demo', reference);
      return z.object({ transaction_reference: z.string() }).parse(json(received?.body ?? ''));
    });
    expect(await scenario.executions(webhook.transaction_reference)).toBe(1);
  });

  // As above.
  it.runIf(language.isHere)('end with the refusal', async () => {
    const { transferUrl: PAYOUT_API, collectionsUrl: COLLECTION_API } = scenario.stack.runFile();
    const environment = { PAYOUT_API, COLLECTION_API, PUBLIC_KEY: demo().publicKey };
    const taken = scenario.reference(`taken-${language.name}`);
    await scenario.demo.requestPayout({ reference: taken, amount: '1', accountNumber: '0123459999' });
    const refused = async (program: string, reference: string, settings = environment) => {
      const { code, stdout, stderr } = await runProgram(language, program, settings, [reference]);
      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      return stderr;
    };
    expect(await refused('payout', taken)).toContain('94 ');
    expect(await refused('payout', 'a/b')).toContain('30 ');
    expect(await refused('payout', 'x', { ...environment, PUBLIC_KEY: 'nobody' })).toContain('63 ');
    expect(await refused('collection', 'x', { ...environment, PUBLIC_KEY: 'nobody' })).toMatch(
      /^.*UNAUTHORIZED: /m,
    );
  });

  // As above.
  it.runIf(language.isHere)('sign a request', async () => {
    const environment = { PAYOUT_API: scenario.stack.runFile().transferUrl, PUBLIC_KEY: demo().publicKey };
    const secret = await signingSecret();
    const ask = (SIGNING_SECRET: string) =>
      runProgram(language, 'balance', { ...environment, SIGNING_SECRET });
    // The gateway knows the secret within seconds; until then it judges no signature.
    await eventually(async () => {
      const stderr: unknown = expect.stringContaining('63 X-signature');
      expect(await ask('rqsec_another')).toMatchObject({ stdout: '', stderr });
    });
    const stdout: unknown = expect.stringMatching(/^GHS [\d.]+\n$/);
    expect(await ask(secret)).toEqual({ code: 0, stdout, stderr: '' });
  });
});

let secretAsked: Promise<string> | undefined;

/** A signing secret of demo, which two operators have added; its requests need no signature all the same. */
function signingSecret(): Promise<string> {
  secretAsked ??= (async () => {
    await using folder = await checkoutFolder();
    const options = ['--add-secret', '--reason', 'a test of programs', '--approve'];
    const runFile = path.join(folder.path, '.pesewa', 'run.json');
    const main = path.join(root, 'packages/cli/src/main.ts');
    const command = [main, 'merchants', 'set-signatures', 'demo', ...options, '--run-file', runFile];
    const { stdout } = await run(process.execPath, command);
    return /rqsec_\S+/.exec(stdout)?.[0] ?? stdout;
  })();
  return secretAsked;
}

function demo() {
  const merchant = scenario.stack.merchants.find(({ id }) => id === 'demo');
  if (!merchant) throw new Error('no such merchant');
  return merchant;
}

/** A folder that looks to the commands like a checkout in which `npm start` runs. */
async function checkoutFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-docs-'));
  await symlink(path.join(root, 'docs'), path.join(folder, 'docs'));
  await mkdir(path.join(folder, '.pesewa'));
  await writeFile(path.join(folder, '.pesewa', 'run.json'), JSON.stringify(scenario.stack.runFile()));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
