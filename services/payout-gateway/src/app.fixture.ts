import { type KeyScope, keyScopes, parseJson } from '@pesewa/contracts';
import type { KeyHolder, Merchant } from '@pesewa/directory';
import { accept } from '@pesewa/kernel';
import type { AppEnv } from '@pesewa/merchant-api';
import { createLogger } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { z } from 'zod';
import { refusalSchema } from './api-operation.ts';
import { type AppDeps, createApp } from './app.ts';
import { payoutDecider } from './domain/payout.ts';
import { operations } from './openapi.ts';
import type { Payout } from './store.ts';

const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };

/** A merchant with two wallets and generous limits. */
export const merchant: Merchant = {
  id: 'demo',
  name: 'Demo',
  status: 'active',
  keys: [],
  allowedAddresses: [],
  signing: { isRequired: false, secrets: [] },
  wallets: [
    { currency: 'NGN', country: 'NGA', payoutFee: fee, collectionFee: fee },
    { currency: 'XOF', country: 'CIV', payoutFee: fee, collectionFee: fee },
  ],
  webhooks: { payoutsUrl: null, collectionsUrl: null, secrets: [] },
  limits: { requestsPerSecond: 100 },
  createdAt: new Date(0),
};

/** A payout that was accepted. */
export const payout: Payout = {
  ...payoutDecider.initial,
  reference: 'po-1',
  merchantId: 'demo',
  order: {
    merchantReference: 'order-1',
    country: 'KEN',
    channel: 'Bank Transfer',
    transactionType: '2',
    amount: { minor: 2_050n, currency: 'KES' },
    beneficiary: { accountName: 'A', accountNumber: '1', bankCode: '2' },
    sender: { name: 'S', email: 's@example.com' },
  },
  contentHash: 'h',
  fee: 21n,
  rail: 'upstream',
  batchReference: null,
  acceptedAtMs: 0,
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  causedBy: null,
  timeline: [],
};

/** The merchant as one of its keys names it; a key for both APIs unless others are given. */
export function holderOf(merchant: Merchant, scopes: readonly KeyScope[] = keyScopes): KeyHolder {
  return { merchant, key: { hash: '0'.repeat(64), scopes: [...scopes], createdAt: new Date(0) } };
}

/** The header of the merchant `demo`. */
const DEMO_KEY = 'ZGVtbw==';

/** The payout API over scripted parts; those that a test does not override give good answers. */
export function openTestApp(overrides: Partial<AppDeps> = {}): Hono<AppEnv> {
  return createApp({
    identify: async (key) => (key === DEMO_KEY ? holderOf(merchant) : undefined),
    proxies: { trustedProxies: 0 },
    clock: { nowMs: () => 0 },
    logger: createLogger({ name: 'test', level: 'silent' }),
    payouts: {
      request: async () => accept(payout),
      find: async (_merchantId, reference) => (reference === 'order-1' ? payout : undefined),
      apply: async () => [],
    },
    batches: { request: async () => accept(null) },
    lists: {
      store: { list: async () => [payout], listBatches: async () => [], findBatch: async () => undefined },
    },
    whyWaiting: () => null,
    statements: { read: async () => undefined },
    inquiries: {
      balances: { available: async () => new Map() },
      processors: { list: async () => [] },
      routes: [],
      availability: () => undefined,
      enquireName: async () => ({ kind: 'noAccount' }),
      flagUrl: (country) => `http://gateway.test/flags/${country}.svg`,
    },
    rateLimits: { limitRequest: async () => undefined, limitNameEnquiry: async () => undefined },
    ...overrides,
  });
}

/** An answer of the app whose body was checked against the API document's schema for it. */
export interface CheckedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly isSuccessful: boolean;
    readonly responseCode?: string | undefined;
    readonly responseMessage: string;
    readonly responseData?: unknown;
  };
}

/**
 * Sends a request with the key of `demo` and checks the answer, so that every answer in a test has a documented shape.
 */
export async function ask(
  app: Pick<Hono<AppEnv>, 'request'>,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<CheckedAnswer> {
  const { body, headers } = options;
  const response = await app.request(path, {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: {
      'x-api-key': DEMO_KEY,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await response.text();
  const checked = schemaOf(method, new URL(path, 'http://gateway.test').pathname, response.status).parse(
    parseJson(text),
  );
  return { status: response.status, headers: response.headers, text, body: envelope.parse(checked) };
}

const envelope = z.object({
  isSuccessful: z.boolean(),
  responseCode: z.string().optional(),
  responseMessage: z.string(),
  responseData: z.unknown().optional(),
});

/** The documented schema of an answer; if no operation has it, that of the refusal for an unknown path or method. */
function schemaOf(method: string, path: string, status: number): z.ZodType {
  if (status === 404 || status === 405) return refusalSchema(['30']);
  const operation = operations.find(
    (candidate) =>
      candidate.method === method.toLowerCase() &&
      new RegExp(`^${candidate.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  if (!operation) {
    // A refusal before routing: the caller is checked first, whatever the path.
    return refusalSchema(['63', '57', '65', '91', '96']);
  }
  const documented = z
    .object({ content: z.object({ 'application/json': z.object({ schema: z.instanceof(z.ZodType) }) }) })
    .safeParse(operation.responses[status]);
  if (!documented.success) throw new Error(`HTTP ${status} of ${method} ${path} is not documented`);
  return documented.data.content['application/json'].schema;
}
