import { missingConditionalField } from '@pesewa/contracts';
import { z } from 'zod';
import { type CallRail, createCall } from '../call.ts';
import { createCallbackVerifier } from '../callback-verification.ts';
import { type ConnectorDependencies, defineConnector } from '../define-connector.ts';
import type { NotSent, Rail, RailCollections, RailPayouts, Unknown } from '../rail.ts';
import { collectionShape, commonShape, httpUrl, payoutShape } from '../settings.ts';
import { base64, NOT_PAID } from '../text.ts';
import { readCollectionCallback, readPayoutCallback } from './callbacks.ts';
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

const CONNECTOR = 'upstream';

const json = { 'content-type': 'application/json' };

const settingsSchema = z.strictObject({
  connector: z.literal(CONNECTOR),
  transferUrl: httpUrl,
  collectionsUrl: httpUrl,
  publicKey: z.string().regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be printable ASCII' }),
  ...commonShape,
  ...payoutShape,
  ...collectionShape,
});

type Settings = z.output<typeof settingsSchema>;
type UpstreamLogger = ConnectorDependencies['logger'];

/** The connector for an aggregator that implements the contract; we are its client. */
export const upstream = defineConnector({
  settings: settingsSchema,
  connect: ({ settings, guard, clock, logger }) => {
    const call = createCall({ settings, guard, clock });
    return {
      ...transferSide(settings, call, logger),
      ...collectionSide(settings, call, logger),
      verifyCallback: createCallbackVerifier(settings),
    };
  },
});

/** The entry of `RAILS` for a system that serves both sides of the contract at one address. */
export function upstreamRail(rail: {
  readonly name: string;
  readonly url: string;
  readonly publicKey: string;
}) {
  const { name, url, publicKey } = rail;
  return { name, connector: CONNECTOR, transferUrl: url, collectionsUrl: url, publicKey };
}

/** The transfer side of the contract (4.1, 4.3 to 4.6). */
function transferSide(settings: Settings, call: CallRail, logger: UpstreamLogger) {
  const base = `${settings.transferUrl}/api/v1`;
  const headers = { 'x-api-key': base64(settings.publicKey) };
  const get = (path: string) => call({ method: 'GET', url: `${base}${path}`, headers, isQuery: true });
  const post = (path: string, body: unknown, isInquiry?: true) =>
    call({
      ...(isInquiry && { isInquiry }),
      method: 'POST',
      url: `${base}${path}`,
      headers: { ...headers, ...json },
      body,
    });
  /** It never reaches a merchant that our wallet at the rail is empty; we must know. */
  const warnIfUnfunded = <Result extends { readonly kind: string; readonly reason?: string | null }>(
    result: Result,
    { reference }: { readonly reference: string },
  ): Result => {
    if (result.kind === 'failed' && result.reason === NOT_PAID)
      logger?.warn({ rail: settings.name, reference }, 'the rail failed a payout for lack of our funds');
    return result;
  };
  const payouts: RailPayouts = {
    routes: settings.payouts,
    fee: settings.payoutFee,
    readCallback: readPayoutCallback,
    submit: async (order) => {
      // Contract 2.2 requires fields of a single payout that contract 2.3 does not require of an item of a batch.
      if (missingConditionalField(order) !== undefined) {
        const answer = await post('/transactions/transfer/bulk', batchBody(order));
        return answer.kind === 'answered' ? readBatchSubmission(answer) : answer;
      }
      const answer = await post('/transactions/transfer/single', payoutBody(order));
      return answer.kind === 'answered' ? warnIfUnfunded(readSubmission(answer, order), order) : answer;
    },
    lookUp: async (query) => {
      const answer = await get(`/transactions/${encodeURIComponent(query.reference)}/query`);
      return answer.kind === 'answered' ? warnIfUnfunded(readLookup(answer, query), query) : answer;
    },
    processors: async (country) => {
      const url = `${base}/banks?country=${encodeURIComponent(country)}`;
      const answer = await call({
        method: 'GET',
        url,
        headers,
        isInquiry: true,
        bytesMax: PROCESSORS_BYTES_MAX,
      });
      if (answer.kind !== 'answered') return unanswered(answer);
      return readProcessors(answer, (records, why) =>
        logger?.warn({ rail: settings.name, country, records, why }, 'processors were left out of a list'),
      );
    },
    enquireName: async (query) => {
      const answer = await post('/transactions/name-enquiry', query, true);
      return answer.kind === 'answered' ? readAccountName(answer) : unanswered(answer);
    },
  };
  const balances: Rail['balances'] = async () => {
    const answer = await call({ method: 'POST', url: `${base}/wallets/balance`, headers });
    return answer.kind === 'answered' ? readBalances(answer) : unanswered(answer);
  };
  return { payouts, balances };
}

/** The collection side of the contract (4.7 to 4.9). */
function collectionSide(settings: Settings, call: CallRail, logger: UpstreamLogger) {
  const base = `${settings.collectionsUrl}/collection/v1`;
  const headers = { ...json, 'x-app': 'api', 'x-business': base64(settings.publicKey) };
  const post = (path: string, securityModule: string, body: unknown, isQuery?: true) =>
    call({
      ...(isQuery && { isQuery }),
      method: 'POST',
      url: `${base}${path}`,
      headers: { ...headers, 'x-module': securityModule },
      body,
    });
  const collections: RailCollections = {
    operatorCodes: settings.operatorCodes,
    fee: settings.collectionFee,
    readCallback: readCollectionCallback,
    initiate: async (order) => {
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
    complete: async (order) => {
      const { securityModule, body } = collectionRequest(order);
      const answer = await post('/complete-payin', securityModule, body);
      return answer.kind === 'answered' ? readCompletion(answer) : answer;
    },
    check: async ({ reference, country }) => {
      const answer = await post('/check-status', base64(reference), checkBody(reference, country), true);
      return answer.kind === 'answered' ? readCheck(answer) : answer;
    },
  };
  return { collections };
}

/** A question that was not sent counts like one without an answer. */
function unanswered(outcome: Unknown | NotSent): Unknown {
  return outcome.kind === 'unknown' ? outcome : { kind: 'unknown', why: `not asked: ${outcome.why}` };
}
