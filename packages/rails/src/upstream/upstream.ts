import { missingConditionalField } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { NotSent, RailConnector, Unknown } from '../connector.ts';
import { callDeadlineMs, type Guard } from '../guard.ts';
import type { RailSettings } from '../settings.ts';
import { type CallUpstream, createCall } from './call.ts';
import { createCallbackJudge } from './callback-judge.ts';
import { translateCallback } from './callbacks.ts';
import {
  checkBody,
  collectionRequest,
  isByLink,
  readCheck,
  readCompletion,
  readInitiation,
  readPaymentLink,
} from './collections.ts';
import { PROCESSORS_BYTES_MAX, readAccountName, readBalances, readProcessors } from './inquiries.ts';
import { batchBody, payoutBody, readBatchSubmission, readLookup, readSubmission } from './payouts.ts';
import { base64 } from './text.ts';

const json = { 'content-type': 'application/json' };

/** The connector for an aggregator that implements the contract; we are its client. */
export function createUpstream(dependencies: {
  readonly settings: RailSettings;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}): RailConnector {
  const { settings } = dependencies;
  const call = createCall(dependencies);
  return {
    name: settings.name,
    capabilities: {
      payouts: settings.payouts,
      operatorCodes: settings.operatorCodes,
      callbacks: settings.callbacks,
      fees: { payout: settings.payoutFee, collection: settings.collectionFee },
      polling: { perSecondMax: settings.pollsPerSecondMax, concurrencyMax: settings.pollConcurrencyMax },
      callDeadlineMs: callDeadlineMs(settings),
    },
    isAvailable: dependencies.guard.isAvailable,
    ...payoutOperations(settings, call, dependencies.logger),
    ...collectionOperations(settings, call, dependencies.logger),
    translateCallback,
    judgeCallback: createCallbackJudge(settings),
  };
}

type PayoutOperations = Pick<
  RailConnector,
  'submitPayout' | 'lookUpPayout' | 'balances' | 'processors' | 'enquireName'
>;

/** The payout side of the contract (4.1, 4.3 to 4.6). */
function payoutOperations(
  settings: RailSettings,
  call: CallUpstream,
  logger: Pick<Logger, 'warn'> | undefined,
): PayoutOperations {
  const base = `${settings.transferUrl}/api/v1`;
  const headers = { 'x-api-key': base64(settings.publicKey) };
  const get = (path: string) => call({ method: 'GET', url: `${base}${path}`, headers, asks: true });
  const post = (path: string, body: unknown) =>
    call({ method: 'POST', url: `${base}${path}`, headers: { ...headers, ...json }, body });
  return {
    submitPayout: async (order) => {
      // Contract 2.2 requires fields of a single payout that contract 2.3 does not require of an item of a batch.
      if (missingConditionalField(order) !== undefined) {
        const answer = await post('/transactions/transfer/bulk', batchBody(order));
        return answer.kind === 'answered' ? readBatchSubmission(answer) : answer;
      }
      const answer = await post('/transactions/transfer/single', payoutBody(order));
      return answer.kind === 'answered' ? readSubmission(answer, order) : answer;
    },
    lookUpPayout: async (query) => {
      const answer = await get(`/transactions/${encodeURIComponent(query.reference)}/query`);
      return answer.kind === 'answered' ? readLookup(answer, query) : answer;
    },
    balances: async () => {
      const answer = await call({ method: 'POST', url: `${base}/wallets/balance`, headers });
      return answer.kind === 'answered' ? readBalances(answer) : unanswered(answer);
    },
    processors: async (country) => {
      const url = `${base}/banks?country=${encodeURIComponent(country)}`;
      const answer = await call({ method: 'GET', url, headers, bytesMax: PROCESSORS_BYTES_MAX });
      if (answer.kind !== 'answered') return unanswered(answer);
      return readProcessors(answer, (records, why) =>
        logger?.warn({ rail: settings.name, country, records, why }, 'processors were left out of a list'),
      );
    },
    enquireName: async (query) => {
      const answer = await post('/transactions/name-enquiry', query);
      return answer.kind === 'answered' ? readAccountName(answer) : unanswered(answer);
    },
  };
}

type CollectionOperations = Pick<
  RailConnector,
  'initiateCollection' | 'completeCollection' | 'checkCollection'
>;

/** The collection side of the contract (4.7 to 4.9). */
function collectionOperations(
  settings: RailSettings,
  call: CallUpstream,
  logger: Pick<Logger, 'warn'> | undefined,
): CollectionOperations {
  const base = `${settings.collectionsUrl}/collection/v1`;
  const headers = { ...json, 'x-app': 'api', 'x-business': base64(settings.publicKey) };
  const post = (path: string, securityModule: string, body: unknown, asks?: true) =>
    call({
      ...(asks && { asks }),
      method: 'POST',
      url: `${base}${path}`,
      headers: { ...headers, 'x-module': securityModule },
      body,
    });
  return {
    initiateCollection: async (order) => {
      const { securityModule, body } = collectionRequest(order);
      const answer = await post('/payin', securityModule, body);
      if (answer.kind !== 'answered') return answer;
      const readLink = (address: string) => {
        const link = readPaymentLink(address, settings.collectionsUrl);
        // The address is not logged, because it may be anything.
        if (link === '')
          logger?.warn(
            { rail: settings.name, reference: order.reference },
            'the rail gave no link that a customer may be sent to',
          );
        return link;
      };
      return readInitiation(answer, isByLink(order) ? readLink : undefined);
    },
    completeCollection: async (order) => {
      const { securityModule, body } = collectionRequest(order);
      const answer = await post('/complete-payin', securityModule, body);
      return answer.kind === 'answered' ? readCompletion(answer) : answer;
    },
    checkCollection: async ({ reference, country }) => {
      const answer = await post('/check-status', base64(reference), checkBody(reference, country), true);
      return answer.kind === 'answered' ? readCheck(answer) : answer;
    },
  };
}

/** A question that was not sent counts like one without an answer. */
function unanswered(outcome: Unknown | NotSent): Unknown {
  return outcome.kind === 'unknown' ? outcome : { kind: 'unknown', why: `not asked: ${outcome.why}` };
}
