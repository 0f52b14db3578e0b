import type { DeliveryDetailView, TestView } from '@pesewa/contracts';
import type { Directory, Merchant } from '@pesewa/directory';
import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import { verifyWebhook } from '@pesewa/signatures';
import type { DeliveryDocument } from './documents.ts';
import type { AttemptError } from './domain/delivery.ts';
import { addressOf, headersFor, type TestKind, testBody, unsignedHeaders } from './outgoing.ts';
import type { Observation, Sender } from './sender.ts';
import type { DeliveryStore } from './store.ts';

type Refusal = 'delivery.unknown' | 'merchant.unknown';

/** A webhook's document with what is sent for it now. */
export type Inspected = Pick<DeliveryDetailView, 'address' | 'headers'> & {
  readonly delivery: DeliveryDocument;
};

/** What people ask about webhooks; none of it changes a delivery. */
export interface Inspections {
  readonly show: (id: string) => Promise<Result<Inspected, Refusal>>;
  /** The body with all headers of an attempt at this moment. */
  readonly sign: (id: string) => Promise<Result<Signed, Refusal>>;
  /** Sends a signed sample to the merchant's own address. */
  readonly test: (merchantId: string, kind: TestKind) => Promise<Result<TestView, Refusal>>;
  /** Such a sample, for whoever asks to send it. */
  readonly signTest: (merchantId: string, kind: TestKind) => Promise<Result<Signed, Refusal>>;
}

interface Signed {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Builds {@link Inspections}. */
export function createInspections(deps: {
  readonly store: Pick<DeliveryStore, 'find'>;
  readonly directory: Pick<Directory, 'find'>;
  readonly sender: Pick<Sender, 'observe'>;
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
}): Inspections {
  const { store, directory, sender, clock, ids, deadlineMs } = deps;
  const signSample = (merchant: Merchant, kind: TestKind, atMs: number) => {
    const sample = sampleFor(merchant, { kind, atMs, id: `test-${ids.next('dl')}` });
    return { id: sample._id, body: sample.body, headers: headersFor(sample, merchant.webhooks, atMs) };
  };
  return {
    show: async (id) => {
      const delivery = await store.find(id);
      if (delivery === null) return refuse('delivery.unknown');
      const merchant = await directory.find(delivery.merchantId);
      const address = (merchant && addressOf(delivery, merchant.webhooks)) ?? null;
      return accept({ delivery, address, headers: unsignedHeaders(delivery) });
    },
    sign: async (id) => {
      const delivery = await store.find(id);
      if (delivery === null) return refuse('delivery.unknown');
      const merchant = await directory.find(delivery.merchantId);
      if (!merchant) return refuse('merchant.unknown');
      const headers = headersFor(delivery, merchant.webhooks, clock.nowMs());
      return accept({ body: delivery.body, headers });
    },
    test: async (merchantId, kind) => {
      const merchant = await directory.find(merchantId);
      if (!merchant) return refuse('merchant.unknown');
      const atMs = clock.nowMs();
      const { id, body, headers } = signSample(merchant, kind, atMs);
      const url = addressOf({ kind: `${kind}-failed`, webhookUrl: null }, merchant.webhooks);
      const sent = { id, sentBody: body, deadlineMs };
      if (url === undefined) return accept({ ...sent, ...nothingSent });
      const observed = await sender.observe({ url, headers, body });
      const durationMs = Math.max(0, clock.nowMs() - atMs);
      const signature = signatureOf(body, headers, merchant.webhooks.secrets, atMs);
      return accept({ ...sent, ...viewOf(observed), signature, address: url, durationMs });
    },
    signTest: async (merchantId, kind) => {
      const merchant = await directory.find(merchantId);
      if (!merchant) return refuse('merchant.unknown');
      const { body, headers } = signSample(merchant, kind, clock.nowMs());
      return accept({ body, headers });
    },
  };
}

const nothingSent = {
  address: null,
  finding: 'no_address',
  rule: null,
  resolved: null,
  connectedTo: null,
  tls: null,
  tlsProblem: null,
  signature: null,
  status: null,
  error: null,
  durationMs: 0,
  isBodyCut: false,
} as const;

function sampleFor(
  { id: merchantId, wallets }: Merchant,
  { kind, atMs, id }: { readonly kind: TestKind; readonly atMs: number; readonly id: string },
): Pick<DeliveryDocument, '_id' | 'body'> {
  const currency = wallets[0]?.currency ?? 'GHS';
  return { _id: id, body: testBody({ kind, merchantId, currency, atMs, reference: id }) };
}

/** What a receiver with the secrets on record would find, by a verification that shares nothing with the signing. */
function signatureOf(
  body: string,
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
  nowMs: number,
): TestView['signature'] {
  const header = 'webhook-signature';
  const count = headers[header]?.split(' ').length ?? 0;
  // The header's time has whole seconds.
  const { ok: verifies } = verifyWebhook({ headers, body, secrets, nowMs, toleranceSeconds: 1 });
  return { header, count, verifies };
}

function viewOf({ result, rule, resolved, connection, isBodyCut, isRedirect }: Observation) {
  const status = result.kind === 'answered' ? result.status : null;
  const error = result.kind === 'failed' ? result.error : null;
  const finding = findingOf(result, isRedirect);
  return { finding, rule, resolved: resolved && [...resolved], ...connection, status, error, isBodyCut };
}

const findingsOfErrors: Readonly<Partial<Record<AttemptError, TestView['finding']>>> = {
  refused: 'address_refused',
  not_public: 'name_not_public',
  dns: 'name_unresolved',
};

function findingOf(result: Observation['result'], isRedirect: boolean): TestView['finding'] {
  if (result.kind === 'answered') {
    if (result.status >= 200 && result.status < 300) return 'delivered';
    return isRedirect ? 'redirected' : 'answered';
  }
  return findingsOfErrors[result.error] ?? 'no_answer';
}
