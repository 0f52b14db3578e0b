import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
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
import { reservePorts } from '@pesewa/infrastructure';
import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openCompactScenario, type Scenario } from '../scenarios/scenario.ts';
import { blocksOf, type Page, readPage } from './pages.ts';

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
  'README.md',
  'docs/api/README.md',
  'docs/api/keys.md',
  'docs/api/payouts.md',
  'docs/api/balances-processors-names.md',
  'docs/api/collections.md',
  FLOWS,
  'docs/api/callbacks.md',
];
const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8');

const addressed = (script: string): string => {
  const { transferUrl, collectionsUrl, ingressUrl, simulatorUrl } = scenario.stack.runFile();
  return script
    .replaceAll('http://127.0.0.1:4010', transferUrl)
    .replaceAll('http://127.0.0.1:4020', collectionsUrl)
    .replaceAll('http://127.0.0.1:4030', ingressUrl)
    .replaceAll('http://127.0.0.1:4070', simulatorUrl);
};

describe.each(pages)('the commands of %s', (file) => {
  it('print what the page shows', async () => {
    const page = readPage(await read(file));
    expect(page.commands).not.toEqual([]);
    await using folder = await temporaryFolder();
    const settings = await evaluate(page);
    const isFromPesewa = await documentedCheck();
    for (const { script, prints, isRepeatable, expected } of page.commands) {
      const follow = async () => {
        const options = { cwd: folder.path, env: { ...process.env, ...settings } };
        const { stdout } = await run('sh', ['-euc', addressed(script)], options);
        const printed = prints === 'webhook' ? provenBody(stdout, isFromPesewa) : stdout.trim();
        expect(prints === 'text' ? printed : json(printed)).toEqual(expected);
        return printed;
      };
      const printed = await (isRepeatable ? eventually(follow) : follow());
      if (file === FLOWS && prints === 'webhook') await expectStatusOf(printed);
    }
  });
});

/** The settings of a page, evaluated once, as the shell of a reader keeps them. */
async function evaluate({ settings, settingNames }: Page): Promise<Readonly<Record<string, string>>> {
  const shown = settingNames.map((name) => `printf '%s\\n' "$${name}"`).join('\n');
  const { stdout } = await run('sh', ['-euc', `${addressed(settings)}\n${shown}`]);
  const values = stdout.split('\n');
  return Object.fromEntries(settingNames.map((name, index) => [name, values[index] ?? '']));
}

const receivedWebhooks = z.object({
  webhooks: z.array(z.object({ headers: z.record(z.string(), z.string()), body: z.string() })),
});

/** The body of the only webhook that the merchant received, verified with the documented sample. */
function provenBody(stdout: string, isFromPesewa: DocumentedCheck): string {
  const { webhooks } = receivedWebhooks.parse(json(stdout));
  expect(webhooks).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: '' }] = webhooks;
  expect(isFromPesewa(headers, body, secret())).toBe(true);
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

const sample = z.object({
  isFromPesewa: z.function({
    input: [z.record(z.string(), z.string()), z.string(), z.string()],
    output: z.boolean(),
  }),
});

const signingSample = z.object({
  signed: z.function({
    input: [z.string(), z.string(), z.string()],
    output: z.record(z.string(), z.string()),
  }),
});

type DocumentedCheck = z.output<typeof sample>['isFromPesewa'];

/** The verification code of webhooks.md, unchanged. */
async function documentedCheck(): Promise<DocumentedCheck> {
  await using folder = await webhookSamples();
  const module: unknown = await import(pathToFileURL(path.join(folder.path, 'pesewa.mjs')).href);
  return sample.parse(module).isFromPesewa;
}

describe('the samples of webhooks.md', () => {
  it('prove a real webhook, and nothing that was touched', async () => {
    const { headers, body } = await receivedWebhook('signed');
    const isFromPesewa = await documentedCheck();
    expect(isFromPesewa(headers, body, secret())).toBe(true);
    expect(isFromPesewa(headers, `${body} `, secret())).toBe(false);
    expect(isFromPesewa(headers, body, `whsec_${Buffer.from('another').toString('base64')}`)).toBe(false);
    expect(isFromPesewa({}, body, secret())).toBe(false);
    const stale = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) };
    expect(isFromPesewa(stale, body, secret())).toBe(false);
  });

  it('receive: each webhook is accepted once, a modified one is refused', async () => {
    const { headers, body } = await receivedWebhook('reported');
    await using folder = await webhookSamples();
    const file = path.join(folder.path, 'receiver.mjs');
    const [held] = await reservePorts(1);
    const port = String(held?.port);
    await writeFile(file, (await readFile(file, 'utf8')).replace('8080', port));
    await held?.release();
    const receiver = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: secret() } });
    try {
      let output = '';
      receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const send = async (text: string) =>
        (await postJson(`http://127.0.0.1:${port}/`, text, headers)).status;
      await eventually(async () => expect(await send(body)).toBe(200));
      await cutOff(port);
      expect(await send(body)).toBe(200);
      expect(await send(body.replace('COMPLETED', 'FAILED'))).toBe(401);
      await eventually(() => expect(output).toBe(`${scenario.reference('reported')} COMPLETED\n`));
    } finally {
      receiver.kill();
    }
  });
});

it('the sample of callbacks.md signs what the sample of webhooks.md takes for ours', async () => {
  await using folder = await samplesOf('docs/api/callbacks.md');
  const module: unknown = await import(pathToFileURL(path.join(folder.path, 'sign.mjs')).href);
  const { signed } = signingSample.parse(module);
  const headers = signed('evt-1', '{"a":1}', secret());
  const isFromPesewa = await documentedCheck();
  expect(isFromPesewa(headers, '{"a":1}', secret())).toBe(true);
  expect(isFromPesewa(headers, '{"a":2}', secret())).toBe(false);
});

const secret = (): string =>
  scenario.stack.merchants.find(({ id }) => id === 'demo')?.webhookSecret ?? 'no such merchant';

/** A webhook as the merchant's endpoint received it, with the headers that authenticate it. */
async function receivedWebhook(label: string) {
  const reference = scenario.reference(label);
  await scenario.demo.requestPayout({ reference, amount: '10', accountNumber: '0123459999' });
  const received = await eventually(async () => {
    const [first] = await scenario.stack.simulator.received('demo', reference);
    if (!first) throw new Error('no webhook yet');
    return first;
  });
  const proof = Object.entries(received.headers).filter(([name]) => name.startsWith('webhook-'));
  const headers = Object.fromEntries(proof.map(([name, value]) => [name, String(value)]));
  return { headers, body: received.body };
}

/** Sends the beginning of a request, and closes the connection. */
async function cutOff(port: number | string): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.resume().end('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc');
  await once(socket, 'close');
}

const webhookSamples = () => samplesOf('docs/api/webhooks.md');

/** Writes the samples of a page into a new folder, each under the file name in its first line. */
async function samplesOf(page: string) {
  const samples = blocksOf(await read(page)).filter(({ language }) => language === 'js');
  const folder = await temporaryFolder();
  for (const { text } of samples)
    await writeFile(path.join(folder.path, /^\/\/ (\S+)/.exec(text)?.[1] ?? ''), text);
  return folder;
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-docs-'));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
