import { createHash, createHmac, randomBytes } from 'node:crypto';
import { numberText } from '@pesewa/contracts';
import { type CollectionRequest, exchange, simulatorRail } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { Agent } from 'undici';
import { expect } from 'vitest';
import { z } from 'zod';
import { openCompactScenario, type Scenario } from '../scenarios/scenario.ts';

/** The kind of payment that a callback is about, which is the last part of its address. */
export type Kind = 'payouts' | 'collections';

/** A callback as it is sent. */
export interface Sent {
  readonly rail: string;
  readonly kind: Kind;
  readonly body: string | Uint8Array;
  /** Further headers as alternating names and values, so that a header can be sent twice. */
  readonly headers?: readonly string[];
  /** The address of the ingress; the stack's own by default. */
  readonly url?: string;
}

/** A payment that callbacks are about: our reference, and a function that reads its state. */
export interface Target {
  readonly kind: Kind;
  readonly ours: string;
  readonly look: () => Promise<Seen>;
}

/** The state of a payment that a forged callback might try to change. */
export interface Seen {
  readonly status: string | undefined;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  /** The bodies of the webhooks that the merchant received. */
  readonly webhooks: readonly string[];
  /** The number of requests to the rail other than polls. */
  readonly orders: number;
  readonly executions: number;
}

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;

/** The secrets of the rails that sign their callbacks. */
export const secrets = { old: secretOf(1), current: secretOf(2), other: secretOf(3), proven: secretOf(4) };

const unreachable = simulatorRail({ url: 'http://127.0.0.1:9', publicKey: 'a-rail-that-nobody-calls' });

/** The rail of the payments as another ingress may know it. */
export const railWith = (settings: object) => ({ ...unreachable, ...settings });

/** The rails of the ingress; payments use only the first, whose callbacks are not authenticated. */
const rails = [
  unreachable,
  { ...unreachable, name: 'signed', callbackSecrets: [secrets.old, secrets.current] },
  { ...unreachable, name: 'other', callbackSecrets: [secrets.other] },
  { ...unreachable, name: 'proven', callbackSecrets: [secrets.proven], callbacks: 'proven' },
  { ...unreachable, name: 'fenced', callbackAddresses: ['203.0.113.0/24', '2001:db8::/32'] },
  { ...unreachable, name: 'local', callbackAddresses: ['127.0.0.0/8'] },
];

const keptView = z.object({
  state: z.string(),
  reference: z.string(),
  deliveries: numberText,
  timesPassedOn: numberText,
});
const rejectedView = z.object({
  id: z.string(),
  rail: z.string(),
  digest: z.string(),
  reason: z.string(),
});
const timelineView = z.object({ items: z.array(z.object({ what: z.string(), detail: z.string() })) });

/** The stack and the actions that the tests of the callback addresses use. */
export interface Ingress extends AsyncDisposable {
  readonly scenario: Scenario;
  readonly send: (sent: Sent) => Promise<{ readonly status: number; readonly text: string }>;
  /** The callbacks stored for a reference. */
  readonly kept: (ours: string) => Promise<readonly z.output<typeof keptView>[]>;
  /** The reason for each rejection of a request with exactly this body. */
  readonly rejections: (body: string | Uint8Array) => Promise<readonly string[]>;
  /** The reconciler's timeline of a payment, each line as `what detail`. */
  readonly timeline: (ours: string) => Promise<readonly string[]>;
  readonly breaks: (ours: string) => Promise<readonly string[]>;
  readonly pay: (label: string, digits: string) => Promise<Target>;
  readonly collect: (label: string, digits: string) => Promise<Target>;
}

/** The ingress under test, which all rules share; set by {@link openIngress}. */
export let ingress: Ingress;

/** Opens the stack under test. */
export async function openIngress(): Promise<void> {
  const resources = new AsyncDisposableStack();
  const scenario = resources.use(
    await openCompactScenario('ingress', {
      'webhook-ingress': { RAILS: JSON.stringify(rails) },
      // Payments that stay pending must open no break here; unknown references open one soon.
      reconciler: {
        POLL_CAP_MS: '2000',
        POLLS_BEFORE_BREAK: '10000',
        BOOKS_GRACE_MS: '3000',
        REPUBLISH_REQUESTS_MAX: '1',
        STEP_PAUSE_MS: '500',
      },
    }),
  );
  const agent = new Agent();
  resources.defer(() => agent.close());
  const run = scenario.stack.runFile();
  const operator = async (service: 'webhook-ingress' | 'reconciler', path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${run.operatorToken}` };
    const answer = await exchange(`${run.operations[service] ?? ''}${path}`, { headers });
    expect(answer.status, path).toBe(200);
    return answer.body;
  };
  const list = async <Item extends z.ZodType>(path: string, item: Item) =>
    z.object({ items: z.array(item) }).parse(await operator('webhook-ingress', path)).items;
  ingress = {
    scenario,
    send: (sent) => send(agent, sent.url ?? run.ingressUrl, sent),
    kept: (ours) => list(`/callbacks?reference=${ours}`, keptView),
    rejections: async (body) => {
      const digest = digestOf(body);
      const reasons: string[] = [];
      for (let after = ''; ; ) {
        const items = await list(`/callbacks/rejected${after === '' ? '' : `?after=${after}`}`, rejectedView);
        reasons.push(...items.filter((item) => item.digest === digest).map(({ reason }) => reason));
        after = items.at(-1)?.id ?? '';
        if (after === '') return reasons;
      }
    },
    timeline: async (ours) => {
      const { items } = timelineView.parse(await operator('reconciler', `/timeline?reference=${ours}`));
      return items.map(({ what, detail }) => `${what} ${detail}`);
    },
    breaks: async (ours) =>
      (await scenario.stack.operator.breaks(ours)).map(({ kind }) => String(kind)).toSorted(),
    pay: (label, digits) => pay(scenario, label, digits),
    collect: (label, digits) => collect(scenario, label, digits),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const digestOf = (body: string | Uint8Array): string => createHash('sha256').update(body).digest('hex');

async function send(agent: Agent, origin: string, { rail, kind, body, headers = [] }: Sent) {
  const response = await agent.request({
    origin,
    path: `/rails/${rail}/${kind}`,
    method: 'POST',
    headers: ['content-type', 'application/json', ...headers],
    body,
  });
  return { status: response.statusCode, text: await response.body.text() };
}

async function pay(scenario: Scenario, label: string, digits: string): Promise<Target> {
  const reference = scenario.reference(label);
  const accountNumber = `012345${digits}`;
  const { responseData } = await scenario.demo.requestPayout({ reference, amount: '200', accountNumber });
  const status = async () => (await scenario.demo.lookUpPayout(reference)).responseData?.transactionStatus;
  return targetOf(scenario, 'payouts', { reference, ours: responseData?.transactionReference ?? '', status });
}

async function collect(scenario: Scenario, label: string, digits: string): Promise<Target> {
  const request: CollectionRequest = {
    reference: scenario.reference(label),
    amount: '200',
    operatorCode: 'KESAF',
    currency: 'KES',
    country: 'KE',
    // Each collection has its own number, because of the limit per number.
    customerNumber: `2547${String(nextCustomer++).padStart(4, '0')}${digits}`,
  };
  const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
  const status = async () => (await scenario.demo.checkCollection(request)).responseMessage;
  return targetOf(scenario, 'collections', { reference: request.reference, ours, status });
}

let nextCustomer = 1_000;

function targetOf(
  scenario: Scenario,
  kind: Kind,
  payment: {
    readonly reference: string;
    readonly ours: string;
    readonly status: () => Promise<string | undefined>;
  },
): Target {
  const { ours, reference } = payment;
  expect(ours).toMatch(/^(po|co)-/);
  const look = async (): Promise<Seen> => {
    const journal = await scenario.stack.simulator.journal(ours);
    const received = await scenario.stack.simulator.received(scenario.merchantId, reference);
    const asked = journal.filter(({ kind: what }) => what === 'request');
    return {
      status: await payment.status(),
      entries: await scenario.stack.operator.entries(ours),
      webhooks: received.map(({ body }) => body),
      orders: asked.filter(({ operation }) => operation !== 'lookup' && operation !== 'check').length,
      executions: await scenario.executions(ours),
    };
  };
  return { kind, ours, look };
}

// The last ledger entry in each state.
const payoutEntries: Readonly<Record<string, string>> = { COMPLETED: 'capture', FAILED: 'release' };
const collected: Readonly<Record<string, string>> = { COMPLETED: 'collect' };

/** Waits until the rail has a payment and it has its status, its entries and, if it has ended, its webhook. */
export async function becomes(target: Target, status: string): Promise<Seen> {
  return eventually(async () => {
    const seen = await target.look();
    const webhooks = status === 'PENDING' || status === 'INITIALIZED' ? 0 : 1;
    expect([seen.status, seen.webhooks.length, seen.orders]).toEqual([status, webhooks, 1]);
    // The merchant's webhook may arrive before the ledger has booked the end.
    const kinds = seen.entries.map((entry) => entry['kind']);
    expect([...kinds, undefined]).toContain((target.kind === 'payouts' ? payoutEntries : collected)[status]);
    return seen;
  }, 60_000);
}

/** What a callback claims about a payment of 200. */
export interface Claimed {
  readonly status: string;
  readonly amount?: number;
  readonly fee?: number;
  readonly currency?: string;
  /** Written to a field that is not read, so that two bodies differ. */
  readonly mark?: string;
}

/** The body of a callback in the form of contract 6.1 or 6.2, as a rail would write it. */
export function callbackBody(kind: Kind, ours: string, claimed: Claimed): string {
  const { status, amount = 200, fee, currency, mark = '' } = claimed;
  if (kind === 'payouts') {
    const feeAmount = fee ?? 1;
    return JSON.stringify({
      data: {
        transactionStatus: status,
        merchantReference: ours,
        transactionReference: `upstream-${mark}`,
        amount,
        feeAmount,
        valueAmount: amount + feeAmount,
        statusReason: 'Told by a stranger',
      },
    });
  }
  return JSON.stringify({
    transaction_reference: `upstream-${mark}`,
    transaction_status: status === 'COMPLETED' ? 'Funds Received' : 'Transaction Failed',
    transaction_fee: fee ?? 2,
    amount_received: amount,
    initiated_date: '2026-01-01 00:00:00',
    current_status_date: '2026-01-01 00:00:01',
    received_from: {},
    merchant_reference: ours,
    status,
    channel: 'MOBILE_MONEY',
    currency_code: currency ?? 'KES',
  });
}

/** The Standard Webhooks headers for a body, computed without the code under test. */
export function signed(
  body: string | Uint8Array,
  secret: string,
  with_: { readonly id?: string; readonly ageSeconds?: number } = {},
): readonly string[] {
  const id = with_.id ?? `msg-${randomBytes(6).toString('hex')}`;
  const timestamp = String(Math.floor(Date.now() / 1_000) - (with_.ageSeconds ?? 0));
  const signature = signatureOf({ id, timestamp, body, secret });
  return ['webhook-id', id, 'webhook-timestamp', timestamp, 'webhook-signature', `v1,${signature}`];
}

/** The HMAC over id, timestamp and raw bytes, in Base64. */
export function signatureOf(message: {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string | Uint8Array;
  readonly secret: string;
  readonly algorithm?: 'sha256' | 'sha1';
}): string {
  const key = Buffer.from(message.secret.replace('whsec_', ''), 'base64');
  return createHmac(message.algorithm ?? 'sha256', key)
    .update(`${message.id}.${message.timestamp}.`)
    .update(message.body)
    .digest('base64');
}

/** A reference in our format that belongs to no payment. */
export function unknownReference(kind: Kind): string {
  return `${kind === 'payouts' ? 'po' : 'co'}-${randomBytes(16).toString('hex')}`;
}
