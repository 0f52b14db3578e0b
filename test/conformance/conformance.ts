import { jsonNumber, parseJson, payoutCodes } from '@pesewa/contracts';
import { createDirectoryAdmin, type DirectoryAdmin, type NewMerchant } from '@pesewa/directory';
import { openDatabase } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { Agent } from 'undici';
import { expect } from 'vitest';
import { openCompactScenario, type Scenario } from '../scenarios/scenario.ts';
import { envelope, lookedUp, submitted, wallets } from './shapes.ts';

/** A request, sent without any normalisation. */
export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The raw request target, sent unchanged. */
  readonly path: string;
  /** The unencoded public key for `x-api-key`: demo's if absent, no header if null. */
  readonly key?: string | null;
  /** Further headers as alternating names and values, so that a header can be sent twice. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** An answer of the payout API, after its envelope was checked. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly successful: boolean;
  readonly code: string | undefined;
  readonly message: string;
  readonly data: unknown;
}

/** What the contract tests use: a stack, and a merchant's client that can send anything. */
export interface Conformance extends AsyncDisposable {
  readonly scenario: Scenario;
  readonly directory: DirectoryAdmin;
  readonly demoKey: string;
  readonly rivalKey: string;
  readonly call: (call: ApiCall) => Promise<ApiAnswer>;
  readonly submit: (body: string, key?: string | null) => Promise<ApiAnswer>;
  readonly submitBulk: (body: string, key?: string | null) => Promise<ApiAnswer>;
  readonly lookUp: (reference: string, key?: string) => Promise<ApiAnswer>;
  /** Creates a merchant with a wallet in NGN; returns its key for payouts once the wallet is funded. */
  readonly addMerchant: (id: string, options?: MerchantOptions) => Promise<string>;
}

/** The options of a test's own merchant, which has a million NGN by default and no money if null. */
interface MerchantOptions {
  readonly funding?: string | null;
  readonly limits?: NewMerchant['limits'];
}

/** Fields of a body by their dotted path; `undefined` removes a field. */
export type Changes = Readonly<Record<string, unknown>>;

const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 1n };
const plenty = { requestsPerSecond: 1_000_000 };

/** The Base64 of a public key, as `x-api-key` carries it (contract 5). */
export const encodeKey = (publicKey: string): string => Buffer.from(publicKey).toString('base64');

/** Expects a text that matches the pattern. */
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** A JSON number with exactly this text. */
export const number = jsonNumber;

/** The text of a valid single payout to Nigeria, with the test's changes (contract 2.2). */
export function singleBody(reference: string, changes: Changes = {}): string {
  return changed(
    {
      transactionReference: reference,
      country: 'Nigeria',
      currency: 'NGN',
      channel: 'Bank Transfer',
      beneficiary: {
        accountName: 'Ama Mensah',
        accountNumber: '0123459999',
        bankCode: '044',
        amount: number('100'),
      },
      sender: { name: 'Demo Merchant', email: 'payouts@example.com' },
    },
    changes,
  );
}

/** The text of a valid bulk payout of 100 each to Nigeria (contract 2.3). */
export function bulkBody(reference: string, itemCount: number, changes: Changes = {}): string {
  const beneficiaries = Array.from({ length: itemCount }, (_none, index) => ({
    accountName: 'Ama Mensah',
    accountNumber: '0123459999',
    bankCode: '044',
    amount: number('100'),
    transactionReference: `${reference}.${index}`,
    narration: 'Thank you',
    saveBeneficiary: false,
  }));
  return changed(
    {
      transactionReference: reference,
      currency: 'NGN',
      country: 'Nigeria',
      totalAmount: number(String(100 * itemCount)),
      channel: 'Bank Transfer',
      transactionType: '2',
      beneficiaries,
      sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
    },
    changes,
  );
}

/** The text of a body with some fields changed. */
export function changed(body: Record<string, unknown>, changes: Changes): string {
  for (const [path, value] of Object.entries(changes)) setField(body, path.split('.'), value);
  return JSON.stringify(body);
}

function setField(target: object, [name = '', ...rest]: readonly string[], value: unknown): void {
  const inner: unknown = Reflect.get(target, name);
  if (rest.length > 0 && typeof inner === 'object' && inner !== null) setField(inner, rest, value);
  else if (value === undefined) Reflect.deleteProperty(target, name);
  else Reflect.set(target, name, value);
}

/** The stack under test, which all rules share; set by {@link openApi}. */
export let api: Conformance;

/** Opens the stack under test. */
export async function openApi(): Promise<void> {
  api = await openConformance('conform');
}

async function openConformance(name: string): Promise<Conformance> {
  const resources = new AsyncDisposableStack();
  const scenario = resources.use(await openCompactScenario(name));
  const run = scenario.stack.runFile();
  const agent = new Agent();
  resources.defer(() => agent.close());
  const database = resources.use(
    await openDatabase({
      url: run.mongodbUrl,
      database: `${scenario.prefix}_directory`,
      appName: 'pesewa-conformance',
    }),
  );
  const directory = createDirectoryAdmin(database.db);
  const keyOf = (id: string): string => run.merchants.find((merchant) => merchant.id === id)?.publicKey ?? '';
  const demoKey = keyOf('demo');
  const call = (options: ApiCall) => send(agent, run.transferUrl, { key: demoKey, ...options });
  const post = (path: string, body: string, key: string | null = demoKey) =>
    call({ method: 'POST', path, key, headers: ['content-type', 'application/json'], body });
  return {
    scenario,
    directory,
    demoKey,
    rivalKey: keyOf('rival'),
    call,
    submit: (body, key) => post('/api/v1/transactions/transfer/single', body, key),
    submitBulk: (body, key) => post('/api/v1/transactions/transfer/bulk', body, key),
    lookUp: (reference, key = demoKey) =>
      call({ path: `/api/v1/transactions/${encodeURIComponent(reference)}/query`, key }),
    addMerchant: async (id, options = {}) => {
      const { funding = '1000000', limits = plenty } = options;
      const publicKey = await createMerchant(directory, run.simulatorUrl, id, limits);
      if (funding === null) return publicKey;
      const { operator } = scenario.stack;
      const order = { commandId: `fund-${id}`, merchantId: id, currency: 'NGN', amount: funding };
      await operator.untilApplied([await operator.fundWallet(order)]);
      await eventually(async () => {
        const answer = await call({ method: 'POST', path: '/api/v1/wallets/balance', key: publicKey });
        expect(wallets.parse(answer.data).map(({ balance }) => balance)).not.toEqual(['0']);
      });
      return publicKey;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function send(agent: Agent, origin: string, call: ApiCall): Promise<ApiAnswer> {
  const key = call.key === undefined || call.key === null ? [] : ['x-api-key', encodeKey(call.key)];
  const response = await agent.request({
    origin,
    path: call.path,
    method: call.method ?? 'GET',
    headers: [...key, ...(call.headers ?? [])],
    body: call.body ?? null,
  });
  const text = await response.body.text();
  const { statusCode: status, headers } = response;
  expect(headers).toMatchObject({
    'content-type': matching(/^application\/json/),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(Object.keys(headers)).not.toContain('server');
  expect(Object.keys(headers)).not.toContain('x-powered-by');
  const read = envelope.parse(parseJson(text));
  expect(read.isSuccessful).toBe(status === 200);
  expect(text).not.toMatch(/node_modules|\.ts:\d|MongoServer/);
  if (read.responseCode !== undefined && status !== 404 && status !== 405)
    expect(Object.values(payoutCodes)).toContainEqual(
      expect.objectContaining({ code: read.responseCode, status }),
    );
  return {
    status,
    headers,
    text,
    successful: read.isSuccessful,
    code: read.responseCode,
    message: read.responseMessage,
    data: read.responseData,
  };
}

async function createMerchant(
  directory: DirectoryAdmin,
  simulatorUrl: string,
  id: string,
  limits: NewMerchant['limits'],
): Promise<string> {
  const created = await directory.createMerchant({
    id,
    name: id,
    wallets: [{ currency: 'NGN', country: 'NGA', payoutFee: fee, collectionFee: fee }],
    payoutsUrl: `${simulatorUrl}/merchant/${id}/payouts`,
    limits,
  });
  if (!created.ok) throw new Error(created.refusal.message);
  return created.value.publicKeys.payouts;
}

/** Expects a refusal with a code and a message that names a field, and that nothing was stored (P3). */
export async function expectRefused(
  reference: string,
  answer: ApiAnswer,
  expected: { readonly code: string; readonly names?: string },
): Promise<void> {
  expect(answer).toMatchObject({ successful: false, code: expected.code, data: undefined });
  expect(answer.message).toContain(expected.names ?? '');
  expect((await api.lookUp(reference)).code).toBe('25');
}

/** Expects an accepted single payout and parses it (contract 4.1). */
export function expectAccepted(answer: ApiAnswer) {
  expect(answer).toMatchObject({ status: 200, code: '09' });
  return submitted.parse(answer.data);
}

/** Expects a found payout and parses it (contract 4.3). */
export function expectFound(answer: ApiAnswer) {
  expect(answer).toMatchObject({ status: 200, code: '00' });
  return lookedUp.parse(answer.data);
}
