import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { payoutCodes } from '@pesewa/contracts';
import { holdPorts, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openScenario, type Scenario } from '../scenarios/scenario.ts';
import { matching } from './conformance.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openScenario('conform-docs');
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const root = path.join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const pages = ['README.md', 'payouts.md', 'balances-processors-names.md'];
const read = (file: string): Promise<string> => readFile(path.join(root, file), 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

interface Command {
  readonly script: string;
  readonly isJson: boolean;
  readonly expected: unknown;
}

const json = (text: string): unknown => JSON.parse(text);

const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));

/** Each command of a page that calls the API, and what the page says it prints. */
function commandsOf(markdown: string): readonly Command[] {
  const blocks = blocksOf(markdown);
  const shell = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const settings = shell.filter((text) => /^[A-Z]+=/.test(text));
  return blocks.flatMap(({ language, text }, index) => {
    if (language !== 'sh' || settings.includes(text) || !/^(?:curl|printf) /m.test(text)) return [];
    return [{ script: [...settings, text].join(''), ...printedBy(blocks[index + 1]) }];
  });
}

/** What follows a command is what it prints; without it any success will do. */
function printedBy(following: Block | undefined): Omit<Command, 'script'> {
  if (following?.language === 'json') return { isJson: true, expected: expectation(json(following.text)) };
  if (following?.language === 'text') return { isJson: false, expected: following.text.trim() };
  return { isJson: false, expected: matching(/"isSuccessful":true|"webhooks":\[\{/) };
}

const addressed = (script: string): string =>
  script
    .replaceAll('http://127.0.0.1:4010', scenario.stack.runFile().transferUrl)
    .replaceAll('http://127.0.0.1:4070', scenario.stack.runFile().simulatorUrl);

/** What a page prints, as an expectation; `…` stands for any text. */
function expectation(shown: unknown): unknown {
  if (typeof shown === 'string') {
    const pattern = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    return shown.includes('…') ? matching(new RegExp(`^${pattern.join('.*')}$`)) : shown;
  }
  if (Array.isArray(shown)) return shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, expectation(value)]));
}

describe.each(['README.md', ...pages.map((page) => `docs/api/${page}`)])('the commands of %s', (file) => {
  it('print what the page shows', async () => {
    const commands = commandsOf(await read(file));
    expect(commands).not.toEqual([]);
    for (const { script, isJson, expected } of commands) {
      await eventually(async () => {
        const { stdout } = await run('sh', ['-euc', addressed(script)]);
        expect(isJson ? json(stdout) : stdout.trim()).toEqual(expected);
      });
    }
  });
});

it('errors.md has every responseCode with its HTTP status, and no other (contract 7, design 9)', async () => {
  const rows = [...(await read('docs/api/errors.md')).matchAll(/^\| `(\d\d)` \| (\d{3}) \|/gm)];
  const documented = rows.map(([, code, status]) => ({ code, status: Number(status) }));
  const byCode = (
    left: { readonly code?: string | undefined },
    right: { readonly code?: string | undefined },
  ) => String(left.code).localeCompare(String(right.code));
  expect(documented.toSorted(byCode)).toEqual(Object.values(payoutCodes).toSorted(byCode));
});

const sample = z.object({
  isFromPesewa: z.function({
    input: [z.record(z.string(), z.string()), z.string(), z.string()],
    output: z.boolean(),
  }),
});

describe('the samples of webhooks.md', () => {
  it('prove a real webhook, and nothing that was touched', async () => {
    const { headers, body } = await receivedWebhook('signed');
    await using folder = await webhookSamples();
    const module: unknown = await import(pathToFileURL(path.join(folder.path, 'pesewa.mjs')).href);
    const { isFromPesewa } = sample.parse(module);
    expect(isFromPesewa(headers, body, secret())).toBe(true);
    expect(isFromPesewa(headers, `${body} `, secret())).toBe(false);
    expect(isFromPesewa(headers, body, `whsec_${Buffer.from('another').toString('base64')}`)).toBe(false);
    expect(isFromPesewa({}, body, secret())).toBe(false);
    const stale = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 301) };
    expect(isFromPesewa(stale, body, secret())).toBe(false);
  });

  it('receive: each webhook is told once, a touched one is refused', async () => {
    const { headers, body } = await receivedWebhook('told');
    await using folder = await webhookSamples();
    const file = path.join(folder.path, 'receiver.mjs');
    const [held] = await holdPorts(1);
    const port = String(held?.port);
    await writeFile(file, (await readFile(file, 'utf8')).replace('8080', port));
    await held?.release();
    const receiver = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: secret() } });
    try {
      let told = '';
      receiver.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
      const send = async (text: string) =>
        (await postJson(`http://127.0.0.1:${port}/`, text, headers)).status;
      await eventually(async () => expect(await send(body)).toBe(200));
      expect(await send(body)).toBe(200);
      expect(await send(body.replace('COMPLETED', 'FAILED'))).toBe(401);
      await eventually(() => expect(told).toBe(`${scenario.reference('told')} COMPLETED\n`));
    } finally {
      receiver.kill();
    }
  });
});

const secret = (): string =>
  scenario.stack.merchants.find(({ id }) => id === 'demo')?.webhookSecret ?? 'no such merchant';

/** A webhook as it reached the merchant's endpoint, with the headers that prove it. */
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

/** The samples in a folder of their own, each by the file name in its first line. */
async function webhookSamples() {
  const samples = blocksOf(await read('docs/api/webhooks.md')).filter(({ language }) => language === 'js');
  const folder = await temporaryFolder();
  for (const { text } of samples)
    await writeFile(path.join(folder.path, /^\/\/ (\S+)/.exec(text)?.[1] ?? ''), text);
  return folder;
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-docs-'));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
