import { payoutsOnly } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import type { ConnectorCase } from './connector-case.fixture.ts';
import { describeConnector } from './connector-contract.fixture.ts';
import { connectors, openRails, railSettingsOf, upstreamRail } from './index.ts';
import { answering, createTestClock } from './rails.fixture.ts';
import { upstream } from './upstream/upstream.ts';

const record = (transactionStatus: string, merchantReference = 'po-1') => ({
  transactionStatus,
  merchantReference,
  transactionReference: 'UP-1',
  amount: 100.5,
  feeAmount: 0.5,
});
const envelope = (responseCode: string, responseData: object) => ({
  isSuccessful: true,
  responseCode,
  responseMessage: 'ok',
  responseData,
});
const refusal = (responseCode: string, responseMessage: string) => ({
  isSuccessful: false,
  responseCode,
  responseMessage,
});
const pending = { responseDetails: { responseCode: '09', responseMessage: 'PENDING' } };
const refused = (failedReason: string) => ({
  responseDetails: { responseCode: '06', responseMessage: 'FAILED', failedReason },
});
const status = (responseCode: string, responseMessage: string) => ({
  serverResponse: { responseDetails: { responseCode, responseMessage } },
});

const contract: ConnectorCase = {
  name: 'upstream',
  connector: upstream,
  entry: upstreamRail({ name: 'rail', url: 'http://rail.test', publicKey: 'key' }),
  payouts: {
    submission: {
      accepted: [200, envelope('09', record('INITIALIZED'))],
      aboutAnother: [200, envelope('09', record('INITIALIZED', 'po-2'))],
      duplicate: [409, refusal('94', 'duplicate')],
      refused: (reason) => [422, refusal('92', reason)],
    },
    lookup: {
      pending: [200, envelope('00', record('INITIALIZED'))],
      completed: [200, envelope('00', record('COMPLETED'))],
      notFound: [400, refusal('25', 'no such payout')],
      aboutAnother: [200, envelope('00', record('COMPLETED', 'po-2'))],
      failed: (statusReason) => [200, envelope('00', { ...record('FAILED'), statusReason })],
    },
    callback: (statusReason) => JSON.stringify({ data: { ...record('FAILED'), statusReason } }),
  },
  collections: {
    initiation: {
      accepted: [200, pending],
      duplicate: [200, refused('DUPLICATE REFERENCE')],
      refused: (reason) => [200, refused(reason)],
    },
    completion: { accepted: [200, pending], refused: (reason) => [200, refused(reason)] },
    lookup: {
      pending: [200, status('09', 'PENDING')],
      completed: [200, status('00', 'COMPLETED')],
      notFound: [200, status('25', 'NOT FOUND')],
      failed: [200, status('06', 'FAILED')],
    },
    callback: (failure_reason) =>
      JSON.stringify({
        merchant_reference: 'co-1',
        status: 'FAILED',
        amount_received: 0,
        transaction_fee: 0,
        failure_reason,
      }),
  },
};

const payment = (state: string, change: object = {}) => ({
  id: 'po-1',
  state,
  amount: '100.50',
  cost: '0.5',
  note: '',
  ...change,
});

const payoutsAlone: ConnectorCase = {
  name: 'payouts-only',
  connector: payoutsOnly,
  entry: { url: 'http://rail.test' },
  payouts: {
    submission: {
      accepted: [200, payment('waiting')],
      aboutAnother: [200, payment('waiting', { id: 'po-2' })],
      duplicate: [409, { state: 'taken' }],
      refused: (note) => [200, payment('refused', { note })],
    },
    lookup: {
      pending: [200, payment('waiting')],
      completed: [200, payment('paid')],
      notFound: [404, { state: 'unknown' }],
      aboutAnother: [200, payment('paid', { id: 'po-2' })],
      failed: (note) => [200, payment('refused', { note })],
    },
    callback: (note) => JSON.stringify(payment('refused', { note })),
  },
};

describeConnector(contract);
describeConnector(payoutsAlone);

it('every connector of the registry is held to this', () => {
  expect(connectors).toEqual({ [contract.name]: contract.connector });
});

it('an unknown connector is refused with the names of those that there are', () => {
  const entry = { ...contract.entry, connector: 'nowhere' };
  const read = railSettingsOf({ upstream, 'payouts-only': payoutsOnly }).safeParse(JSON.stringify([entry]));
  expect(read.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    '0.connector: must be one of: upstream, payouts-only',
  ]);
});

it('a rail without collections takes none, and the next one does', () => {
  const entries = [
    { name: 'first', connector: 'payouts-only', url: 'http://rail.test' },
    { ...contract.entry, name: 'second' },
  ];
  const settings = railSettingsOf({ upstream, 'payouts-only': payoutsOnly }).parse(JSON.stringify(entries));
  const transport = answering(500, '');
  const both = openRails(settings, { clock: createTestClock(), transport });
  expect(both.railsFor({ country: 'GHA', currency: 'GHS' }).map(({ name }) => name)).toEqual([
    'first',
    'second',
  ]);
  expect(both.routeCollection({ operatorCode: 'GHMTN' })?.name).toBe('second');
  const alone = openRails(settings.slice(0, 1), { clock: createTestClock(), transport });
  expect(alone.routeCollection({ operatorCode: 'GHMTN' })).toBeUndefined();
});
