import { NameUnresolvedError } from '@pesewa/addresses';
import type { AuditReport } from '@pesewa/audit';
import type { Merchant } from '@pesewa/directory';
import type { OperationsAnswer } from '@pesewa/operator-client';
import type { CliPorts, OpenedDirectory } from './ports.ts';
import { runProgram } from './program.ts';

/** The fee of the merchant's wallet, for payouts and collections: one percent. */
const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };

/** An audit without violations. */
export const cleanReport: AuditReport = {
  pages: 30,
  entries: 12_000,
  entriesBefore: 0,
  wallets: 4,
  accounts: 5,
  openHolds: 2,
  payments: 6,
  violations: [],
  violationCounts: {},
  heads: [{ chain: 'payouts/0', number: 30, hash: 'ab'.repeat(32) }],
  durationMs: 500,
};

const demo: Merchant = {
  id: 'demo',
  name: 'Demo Merchant',
  status: 'active',
  keys: [
    { hash: 'ab'.repeat(32), scopes: ['payouts'], createdAt: new Date(0) },
    { hash: 'cd'.repeat(32), scopes: ['collections'], createdAt: new Date(0), expiresAt: new Date(1) },
  ],
  allowedAddresses: [],
  signing: { isRequired: true, secrets: [`rqsec_${'s'.repeat(44)}`] },
  wallets: [{ currency: 'GHS', country: 'GHA', payoutFee: fee, collectionFee: fee }],
  webhooks: {
    payoutsUrl: 'https://shop.example/payouts',
    collectionsUrl: null,
    secrets: [`whsec_${'s'.repeat(40)}`],
  },
  limits: { requestsPerSecond: 50, perPayoutMaxMinor: { GHS: 9_007_199_254_740_993n } },
  createdAt: new Date(0),
};

/** Unused addresses, so that a running stack is never asked. */
const addresses = {
  MONGODB_URL: 'mongodb://unused',
  LEDGER_URL: 'http://ledger',
  RECONCILER_URL: 'http://reconciler',
  WEBHOOK_INGRESS_URL: 'http://ingress',
  PAYOUT_GATEWAY_URL: 'http://payouts',
  COLLECTION_GATEWAY_URL: 'http://collections',
  WEBHOOK_DISPATCHER_URL: 'http://webhooks',
};

/** A directory with one merchant. */
const directory: OpenedDirectory['admin'] = {
  ensureIndexes: () => Promise.resolve(),
  list: () => Promise.resolve([demo]),
};

/** Two names are special; all others lead to a public address. */
const resolveName: CliPorts['resolveName'] = async (hostname) => {
  if (hostname === 'unknown.example') throw new NameUnresolvedError('unknown');
  return [{ address: hostname === 'inner.example' ? '10.0.0.1' : '93.184.216.34', family: 4 }];
};

/** A clock that stands still except while somebody sleeps. */
function leapingClock(): CliPorts['clock'] {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    sleep: (durationMs) => {
      nowMs += durationMs;
      return Promise.resolve();
    },
  };
}

/**
 * A command line over fakes: records what it printed, and its requests to the operations APIs.
 *
 * @param answers the answers in order, of which the last is repeated; or a function that answers each address
 */
export function commandLine(
  answers: readonly OperationsAnswer[] | ((url: string) => OperationsAnswer) = [],
  report: AuditReport = cleanReport,
) {
  const printed: string[] = [];
  const complained: string[] = [];
  const shown: string[] = [];
  const requests: unknown[] = [];
  const forwarded: unknown[] = [];
  const receiverAnswers: (() => Promise<number>)[] = [];
  const remaining = typeof answers === 'function' ? [] : [...answers];
  const answerTo = (url: string): OperationsAnswer | undefined => {
    if (typeof answers === 'function') return answers(url);
    return remaining.length > 1 ? remaining.shift() : remaining[0];
  };
  const ports: CliPorts = {
    environment: {
      NODE_ENV: 'test',
      HOME: '/homes/ama',
      OPERATOR_TOKEN: 'operator-token-of-tests',
      PESEWA_APPROVER_TOKEN: 'approver-token-of-tests',
    },
    print: (text) => void printed.push(text),
    printError: (text) => void complained.push(text),
    progress: (text) => void (text !== '' && shown.push(text)),
    colours: false,
    openDirectory: () =>
      Promise.resolve({ admin: directory, [Symbol.asyncDispose]: () => Promise.resolve() }),
    exchange: async ({ url, token, method, body }) => {
      requests.push(body === undefined ? url : { url, token, ...(method && { method }), body });
      return answerTo(url) ?? { status: 404, body: { code: 'not_found', message: 'there is nothing' } };
    },
    download: async ({ url, token, file, progress }) => {
      requests.push({ url, token, file });
      progress(1_234, undefined);
      progress(1_234, 5_000);
      return answerTo(url) ?? { status: 200, body: undefined };
    },
    upload: async ({ urlOf, token, file, progress }) => {
      const url = urlOf('ab'.repeat(32));
      requests.push({ url, token, file });
      progress(1, 2);
      return answerTo(url) ?? { status: 404, body: { code: 'not_found', message: 'there is nothing' } };
    },
    forward: (request) => {
      forwarded.push(request);
      return receiverAnswers.shift()?.() ?? Promise.resolve(200);
    },
    resolveName,
    prepare: () => Promise.resolve(),
    audit: ({ onProgress, ...request }) => {
      requests.push(request);
      onProgress({ stage: 'pages', done: 3_000, total: 12_000 });
      return Promise.resolve(report);
    },
    clock: leapingClock(),
    ids: { next: (prefix) => `${prefix}-1` },
  };
  return {
    run: (...call: string[]) =>
      runProgram({ ...ports, environment: { ...addresses, ...ports.environment } }, call),
    printed: () => printed.join(''),
    complained: () => complained.join(''),
    /** The temporary lines shown while waiting. */
    shown,
    ports,
    requests,
    /** What was posted to a developer's own program. */
    forwarded,
    /** What that program does in turn; then it answers 200. */
    receiverAnswers,
  };
}
