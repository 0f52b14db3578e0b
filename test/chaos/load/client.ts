import { type Clock, parseAmount } from '@pesewa/kernel';
import type { CollectionRequest, MerchantClient, PayoutRequest } from '@pesewa/stack';
import type { Api, Call, Outcome } from '../checker/world.ts';
import { isUnclear } from './failures.ts';

/** A merchant's client that records all requests and answers. */
export interface HistoryClient {
  readonly submitPayout: (request: PayoutRequest) => Promise<Outcome>;
  readonly submitBatch: (reference: string, requests: readonly PayoutRequest[]) => Promise<Outcome>;
  readonly lookUpPayout: (reference: string) => Promise<Outcome>;
  readonly initiate: (request: CollectionRequest) => Promise<Outcome>;
  /** `accepted`, or why not. */
  readonly complete: (request: CollectionRequest, otp: string | undefined) => Promise<Outcome>;
  /** Shown as PENDING or as ended, or not at all. */
  readonly check: (
    request: CollectionRequest,
  ) => Promise<{ readonly outcome: Outcome; readonly isEnded: boolean }>;
}

/** The content that makes a request the same as another: value, currency, number. */
function contentOf(amount: string, currency: string, number: string): string {
  const parsed = parseAmount(amount, currency);
  return `${parsed.ok ? parsed.value.minor : amount} ${currency} ${number}`;
}

const contentOfPayout = ({ amount, currency = 'NGN', accountNumber }: PayoutRequest) =>
  contentOf(amount, currency, accountNumber);

/** The outcome of each code of the payout API (contract 10.1). */
const payoutOutcomes: Readonly<Record<string, Outcome>> = {
  '09': 'accepted',
  '00': 'shown',
  '25': 'unknown',
  '94': 'conflict',
  '30': 'refused',
  '13': 'refused',
  '51': 'refused',
  '57': 'refused',
  '61': 'refused',
  '63': 'refused',
  '65': 'refused',
  '92': 'refused',
  '91': 'ambiguous',
  '96': 'ambiguous',
};

const checkOutcomes: Readonly<Record<string, Outcome>> = {
  '09': 'shown',
  '00': 'shown',
  '06': 'shown',
  '25': 'unknown',
};

interface Answered {
  readonly outcome: Outcome;
  readonly ours: string | null;
  readonly failure?: string;
}

const unclear: ReadonlySet<string> = new Set(['INTERNAL ERROR', 'SERVICE UNAVAILABLE']);

/** The outcome of an answer to payin: a refusal with our reference is about a recorded collection. */
function readPayin(answer: Awaited<ReturnType<MerchantClient['initiateCollection']>>): Answered {
  const { responseDetails, transactionReference } = answer;
  const ours = transactionReference === '' ? null : transactionReference;
  const { responseCode, failedReason = '', statusDescription = '' } = responseDetails;
  if (responseCode === '09') return { outcome: 'accepted', ours };
  if (failedReason === 'DUPLICATE REFERENCE') return { outcome: 'conflict', ours };
  if (unclear.has(failedReason))
    return { outcome: 'ambiguous', ours, failure: `${failedReason}: ${statusDescription}` };
  return { outcome: ours === null ? 'refused' : 'ended', ours };
}

/** Why an answer could not be read, or why there was none. */
function readFailure(error: unknown): Answered {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const failure = `${String(error)}${cause}`;
  return { outcome: isUnclear(error) ? 'ambiguous' : 'strange', ours: null, failure };
}

/** Builds a {@link HistoryClient} of one merchant that adds to `calls`. */
export function createHistoryClient(deps: {
  readonly merchantId: string;
  readonly client: MerchantClient;
  readonly calls: Call[];
  readonly clock: Clock;
}): HistoryClient {
  const { merchantId, client, calls, clock } = deps;
  const record = async (
    asked: Pick<Call, 'operation' | 'reference' | 'content'> & {
      readonly api: Api;
      readonly items?: Call['items'];
    },
    ask: () => Promise<Answered>,
  ): Promise<Outcome> => {
    const startedAtMs = clock.nowMs();
    const answer = await ask().catch(readFailure);
    calls.push({ merchantId, items: [], ...asked, ...answer, startedAtMs, endedAtMs: clock.nowMs() });
    return answer.outcome;
  };
  const readPayout = ({
    responseCode = '',
    responseMessage,
    responseData,
  }: Awaited<ReturnType<MerchantClient['lookUpPayout']>>): Answered => {
    const outcome = payoutOutcomes[responseCode] ?? 'strange';
    const ours = responseData?.transactionReference ?? null;
    return outcome === 'strange' || outcome === 'ambiguous'
      ? { outcome, ours, failure: `${responseCode} ${responseMessage}` }
      : { outcome, ours };
  };
  return {
    submitPayout: (request) =>
      record(
        {
          api: 'payout',
          operation: 'submit',
          reference: request.reference,
          content: contentOfPayout(request),
        },
        async () => readPayout(await client.requestPayout(request)),
      ),
    submitBatch: (reference, requests) => {
      const items = requests.map((request) => ({
        reference: request.reference,
        content: contentOfPayout(request),
      }));
      const content = items.map((item) => item.content).join(', ');
      return record({ api: 'payout', operation: 'batch', reference, content, items }, async () => ({
        ...readPayout(await client.requestBatch(reference, requests)),
        ours: null,
      }));
    },
    lookUpPayout: (reference) =>
      record({ api: 'payout', operation: 'lookUp', reference, content: '' }, async () => ({
        ...readPayout(await client.lookUpPayout(reference)),
        ours: null,
      })),
    initiate: (request) =>
      record(
        {
          api: 'collection',
          operation: 'submit',
          reference: request.reference,
          content: contentOf(request.amount, request.currency, request.customerNumber),
        },
        async () => readPayin(await client.initiateCollection(request)),
      ),
    complete: (request, otp) =>
      record(
        { api: 'collection', operation: 'complete', reference: request.reference, content: '' },
        async () => ({ ...readPayin(await client.completeCollection(request, otp)), ours: null }),
      ),
    check: async (request) => {
      let isEnded = false;
      const outcome = await record(
        { api: 'collection', operation: 'lookUp', reference: request.reference, content: '' },
        async () => {
          const { responseCode } = await client.checkCollection(request);
          isEnded = responseCode === '00' || responseCode === '06';
          return { outcome: checkOutcomes[responseCode] ?? 'strange', ours: null };
        },
      );
      return { outcome, isEnded };
    },
  };
}
