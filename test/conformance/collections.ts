import { Readable } from 'node:stream';
import { collectionRefusals, parseJson } from '@pesewa/contracts';
import { createDirectoryAdmin, type DirectoryAdmin, type NewMerchant } from '@pesewa/directory';
import { openDatabase } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { Agent } from 'undici';
import { expect } from 'vitest';
import { openCompactScenario, type Scenario } from '../scenarios/scenario.ts';
import { encodeKey, matching } from './conformance.ts';
import { moduleOf, paths, statusBody } from './rules/collection-requests.ts';
import { payinAnswer, rejectedAnswer, statusAnswer } from './rules/collection-shapes.ts';

/** A request to the collection API, sent without any normalisation. */
export interface CollectionCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The raw request target, sent unchanged. */
  readonly path: string;
  /** The unencoded public key for `X-business`: demo's if absent, no header if null. */
  readonly key?: string | null;
  /** The value of `X-module`: computed from the body if absent, no header if null. */
  readonly module?: string | null;
  /** The value of `X-app`: `api` if absent, no header if null. */
  readonly app?: string | null;
  /** The value of `Content-Type`: JSON if absent, no header if null. */
  readonly type?: string | null;
  /** Further headers as alternating names and values, so that a header can be sent twice. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer | readonly Buffer[];
}

/** The parts of a request that differ from what the merchant's client sends. */
export type Liberties = Partial<Omit<CollectionCall, 'path' | 'body'>>;

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** An answer of payin or complete-payin, after its shape was checked. */
export interface PayinAnswer extends RawAnswer {
  readonly code: '09' | '06';
  readonly reason: string | undefined;
  readonly description: string | undefined;
  /** Our reference. */
  readonly reference: string;
  /** The merchant's next step: the fields of contract 2.9 without the details and the reference. */
  readonly next: Readonly<Record<string, unknown>>;
}

/** An answer of check-status, after its shape was checked; a refused request has no code and message. */
export interface StatusAnswer extends RawAnswer {
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The `error` of the four-field body. */
  readonly error: string | undefined;
}

/** The options of a test's own merchant, which has wallets in the four currencies and by default a fee of 1 %. */
interface MerchantOptions {
  readonly limits?: NewMerchant['limits'];
  readonly collectionFee?: NewMerchant['wallets'][number]['collectionFee'];
  readonly currencies?: readonly string[];
}

/** The stack and the actions that the rules of the collection API use. */
export interface CollectionConformance extends AsyncDisposable {
  readonly scenario: Scenario;
  readonly directory: DirectoryAdmin;
  readonly demoKey: string;
  readonly rivalKey: string;
  readonly call: (call: CollectionCall) => Promise<RawAnswer>;
  readonly payin: (body: CollectionCall['body'], liberties?: Liberties) => Promise<PayinAnswer>;
  readonly complete: (body: CollectionCall['body'], liberties?: Liberties) => Promise<PayinAnswer>;
  /** Checks the status by a reference, or with the full text of a body. */
  readonly check: (asked: string | { readonly body: string }, liberties?: Liberties) => Promise<StatusAnswer>;
  /** Creates a merchant; returns its key for collections. */
  readonly addMerchant: (id: string, options?: MerchantOptions) => Promise<string>;
}

/** Hundreds of collections stay open here, so after the first poll they are polled rarely unless a callback arrives. */
const seldom = { POLL_BASE_MS: '10000', POLL_CAP_MS: '60000' };
const countries: Readonly<Record<string, string>> = { GMD: 'GMB', GHS: 'GHA', XOF: 'CIV', KES: 'KEN' };

/** The stack under test, which all rules share; set by {@link openCollections}. */
export let collections: CollectionConformance;

/** Opens the stack under test. */
export async function openCollections(): Promise<void> {
  collections = await open('conform-collect');
}

async function open(name: string): Promise<CollectionConformance> {
  const resources = new AsyncDisposableStack();
  const scenario = resources.use(await openCompactScenario(name, { reconciler: seldom }));
  const { mongodbUrl, collectionsUrl, simulatorUrl, merchants } = scenario.stack.runFile();
  const agent = new Agent();
  resources.defer(() => agent.close());
  const database = resources.use(
    await openDatabase({
      url: mongodbUrl,
      database: `${scenario.prefix}_directory`,
      appName: 'pesewa-conformance',
    }),
  );
  const directory = createDirectoryAdmin(database.db);
  const keyOf = (id: string): string => merchants.find((merchant) => merchant.id === id)?.publicKey ?? '';
  const demoKey = keyOf('demo');
  const call = (options: CollectionCall) => send(agent, collectionsUrl, { key: demoKey, ...options });
  const post = async (path: string, body: CollectionCall['body'], liberties: Liberties = {}) =>
    readPayin(await call({ method: 'POST', path, ...(body !== undefined && { body }), ...liberties }));
  return {
    scenario,
    directory,
    demoKey,
    rivalKey: keyOf('rival'),
    call,
    payin: (body, liberties) => post(paths.payin, body, liberties),
    complete: (body, liberties) => post(paths.complete, body, liberties),
    check: async (asked, liberties = {}) => {
      const body = typeof asked === 'string' ? statusBody(asked) : asked.body;
      return readStatus(await call({ method: 'POST', path: paths.check, body, ...liberties }));
    },
    addMerchant: async (id, options = {}) => {
      const created = await directory.createMerchant(merchantOf(id, simulatorUrl, options));
      if (!created.ok) throw new Error(created.refusal.message);
      return created.value.publicKeys.collections;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function merchantOf(id: string, simulatorUrl: string, options: MerchantOptions): NewMerchant {
  const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 1n };
  return {
    id,
    name: id,
    wallets: (options.currencies ?? Object.keys(countries)).map((currency) => ({
      currency,
      country: countries[currency] ?? '',
      payoutFee: fee,
      collectionFee: options.collectionFee ?? fee,
    })),
    collectionsUrl: `${simulatorUrl}/merchant/${id}/collections`,
    limits: options.limits ?? { requestsPerSecond: 1_000_000 },
  };
}

async function send(agent: Agent, origin: string, call: CollectionCall): Promise<RawAnswer> {
  const { key, module = moduleOf(call.path, call.body), app = 'api', type = 'application/json' } = call;
  const headers = [
    ...(key === undefined || key === null ? [] : ['x-business', encodeKey(key)]),
    ...(module === null ? [] : ['x-module', module]),
    ...(app === null ? [] : ['x-app', app]),
    ...(type === null ? [] : ['content-type', type]),
    ...(call.headers ?? []),
  ];
  const response = await agent.request({
    origin,
    path: call.path,
    method: call.method ?? 'GET',
    headers,
    body: bytesOf(call.body),
  });
  const text = await response.body.text();
  expect(response.headers).toMatchObject({
    'content-type': matching(/^application\/json/),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(Object.keys(response.headers)).not.toContain('server');
  expect(Object.keys(response.headers)).not.toContain('x-powered-by');
  expect(response.statusCode).toBeLessThan(500);
  expect(text).not.toMatch(/node_modules|\.ts:\d|MongoServer/);
  return { status: response.statusCode, headers: response.headers, text };
}

/** Several buffers are sent as a stream, without a content length. */
function bytesOf(body: CollectionCall['body']): string | Buffer | Readable | null {
  if (body === undefined) return null;
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : Readable.from(body);
}

function readPayin(answer: RawAnswer): PayinAnswer {
  const { responseDetails, transactionReference, ...asked } = payinAnswer.parse(parseJson(answer.text));
  const { responseCode: code, statusDescription: description } = responseDetails;
  const reason = 'failedReason' in responseDetails ? responseDetails.failedReason : undefined;
  const known: Readonly<Record<string, { readonly status: number }>> = collectionRefusals;
  // A reason of the rail is answered with 200, as acceptance is (contract 10.10).
  expect([reason, answer.status]).toEqual([reason, known[reason ?? '']?.status ?? 200]);
  return { ...answer, code, reason, description, reference: transactionReference, next: asked };
}

function readStatus(answer: RawAnswer): StatusAnswer {
  const body = parseJson(answer.text);
  if (answer.status !== 200) {
    const { error, status, path } = rejectedAnswer.parse(body);
    expect([status, path]).toEqual([String(answer.status), paths.check]);
    return { ...answer, code: undefined, message: undefined, error };
  }
  const { responseCode, responseMessage } = statusAnswer.parse(body).serverResponse.responseDetails;
  return { ...answer, code: responseCode, message: responseMessage, error: undefined };
}

/** Expects a refusal whose description names a field, and that nothing was stored (P3). */
export async function expectNothing(
  reference: string,
  answer: PayinAnswer,
  reason: string,
  names = '',
): Promise<void> {
  expect(answer).toMatchObject({ code: '06', reason });
  expect(answer.description ?? '').toContain(names);
  expect((await collections.check(reference)).code).toBe('25');
}

/** Expects an accepted collection; returns our reference. */
export function expectPending(answer: PayinAnswer): string {
  expect(answer).toMatchObject({ status: 200, code: '09', reason: undefined });
  expect(answer.reference).not.toBe('');
  return answer.reference;
}

/** Waits until check-status answers with the code. */
export async function becomes(reference: string, code: string, liberties: Liberties = {}): Promise<void> {
  await eventually(async () => expect((await collections.check(reference, liberties)).code).toBe(code));
}

/** The completions that the rail was asked for, in order. */
export async function completions(ours: string): Promise<readonly string[]> {
  const journal = await collections.scenario.stack.simulator.journal(ours);
  return journal.filter(({ operation }) => operation === 'complete').map(({ outcome }) => outcome);
}
