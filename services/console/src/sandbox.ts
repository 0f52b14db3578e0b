import {
  collectionBody,
  payinHeaders,
  payoutBody,
  payoutHeaders,
  receivedWebhooks,
  type SampleCollection,
  type SamplePayout,
  webhookReceivers,
} from '@pesewa/contracts';
import { parseAnswer, RefusedError, silence } from '@pesewa/operator-client';
import { jsonSetting } from '@pesewa/runtime';
import { verifyWebhook } from '@pesewa/signatures';
import { z } from 'zod';

const merchant = z.strictObject({ id: z.string(), publicKey: z.string(), webhookSecret: z.string() });

/** The setting SANDBOX: the merchant of a development stack, where it sends its payments, and where its webhooks arrive. */
export const sandboxSetting = jsonSetting.pipe(
  z.strictObject({ transferUrl: z.url(), collectionsUrl: z.url(), simulatorUrl: z.url(), merchant }),
);

/** A request of a merchant; one without a body only reads. */
export interface MerchantRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Of one with a body; POST unless given. */
  readonly method?: 'POST' | 'PUT';
}

/** Sends a request of a merchant, and gives the answer as it was written. */
export type MerchantExchange = (
  request: MerchantRequest,
) => Promise<{ readonly status: number; readonly text: string }>;

/** What was sent and answered. */
export interface Exchanged {
  readonly sent: MerchantRequest;
  readonly answer: Awaited<ReturnType<MerchantExchange>>;
}

/** What a payment is made of. */
export type SandboxRequest = SamplePayout | SampleCollection;

/** A merchant that pays and collects as people click. */
export type Sandbox = ReturnType<typeof createSandbox>;

const REMEMBERED_MAX = 200;
const TIMEOUT_MS = 15_000;
/** How old a signature may be when it arrives (Standard Webhooks). */
const TOLERANCE_SECONDS = 300;

/** Builds the sandbox, which remembers its last payments, each with its requests in order, while it runs. */
export function createSandbox(
  { merchant, transferUrl, collectionsUrl, simulatorUrl }: z.output<typeof sandboxSetting>,
  exchange: MerchantExchange = exchangeText,
) {
  const begun = new Map<
    string,
    { readonly request: SandboxRequest; readonly exchanges: readonly Exchanged[] }
  >();
  const send = async (request: SandboxRequest, url: string, own: Record<string, string>, body: string) => {
    const sent = { url, headers: { ...own, 'content-type': 'application/json' }, body };
    const exchanged = { sent, answer: await exchange(sent) };
    const earlier = begun.get(request.reference)?.exchanges ?? [];
    begun.set(request.reference, { request, exchanges: [...earlier, exchanged] });
    const [oldest = ''] = begun.keys();
    if (begun.size > REMEMBERED_MAX) begun.delete(oldest);
  };
  return {
    merchant,
    find: (reference: string) => begun.get(reference),
    pay: (request: SamplePayout) => {
      const url = `${transferUrl}/api/v1/transactions/transfer/single`;
      return send(request, url, payoutHeaders(merchant.publicKey), payoutBody(request));
    },
    collect: (request: SampleCollection, operation: 'payin' | 'complete-payin', otp?: string) => {
      const url = `${collectionsUrl}/collection/v1/${operation}`;
      return send(request, url, payinHeaders(merchant.publicKey, request), collectionBody(request, otp));
    },
    /** Where its webhooks go on to; undefined if they stay at the simulator. */
    receiver: async () => {
      const { text } = await exchange({ url: `${simulatorUrl}/control/receivers`, headers: {} });
      return webhookReceivers.parse(parseAnswer(text)).receivers[merchant.id];
    },
    /** Sends its webhooks on to another address, or to none. */
    setReceiver: async (address: string | null) => {
      const { status } = await exchange({
        method: 'PUT',
        url: `${simulatorUrl}/control/receivers/${merchant.id}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: address }),
      });
      if (status !== 200) throw new RefusedError('receiver must be an http or https address', 422);
    },
    /** The webhooks of a payment as they arrived, each with what verifying it gave. */
    received: async (reference: string) => {
      const query = new URLSearchParams({ merchant: merchant.id, reference }).toString();
      const { text } = await exchange({ url: `${simulatorUrl}/control/received?${query}`, headers: {} });
      return receivedWebhooks.parse(parseAnswer(text)).webhooks.map((webhook) => {
        const of = { secrets: [merchant.webhookSecret], toleranceSeconds: TOLERANCE_SECONDS };
        return { ...webhook, verified: verifyWebhook({ ...webhook, ...of, nowMs: Date.parse(webhook.at) }) };
      });
    },
  };
}

/** A request as a command of a shell. */
export function curlOf({ url, headers, body = '' }: MerchantRequest): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return [`curl ${quote(url)}`, ...lines, `-d ${quote(body)}`].join(' \\\n  ');
}

async function exchangeText({ url, headers, body, method = 'POST' }: MerchantRequest) {
  const silent = () => silence(url);
  const sending = body === undefined ? {} : { method, body };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { headers, ...sending, redirect: 'error', signal }).catch(silent);
  return { status: response.status, text: await response.text().catch(silent) };
}
