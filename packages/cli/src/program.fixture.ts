import type { AuditReport } from '@pesewa/audit';
import type { Merchant } from '@pesewa/directory';
import { accept, refuse } from '@pesewa/kernel';
import type { CliPorts, OpenedDirectory, OperationsAnswer } from './ports.ts';
import { runProgram } from './program.ts';

/** The fee of the merchant's wallet, for payouts and collections: one percent. */
export const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };

/** An audit without violations. */
export const cleanReport: AuditReport = {
  pages: 30,
  entries: 12_000,
  wallets: 4,
  accounts: 5,
  openHolds: 2,
  payments: 6,
  archived: 0,
  violations: [],
  violationCounts: {},
  heads: [{ chain: 'payouts/0', number: 30, hash: 'ab'.repeat(32) }],
  durationMs: 500,
};

const demo: Merchant = {
  id: 'demo',
  name: 'Demo Merchant',
  status: 'active',
  keyHashes: ['ab'.repeat(32)],
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
const addresses = [
  '--mongodb-url',
  'mongodb://unused',
  '--ledger-url',
  'http://ledger',
  '--reconciler-url',
  'http://reconciler',
  '--webhook-ingress-url',
  'http://ingress',
  '--payout-gateway-url',
  'http://payouts',
  '--collection-gateway-url',
  'http://collections',
  '--webhook-dispatcher-url',
  'http://webhooks',
];

/** A directory that records the changes. */
function pretendedAdmin(changes: unknown[]): OpenedDirectory['admin'] {
  const change =
    (name: string) =>
    (...given: unknown[]) => {
      changes.push([name, ...given]);
      return Promise.resolve(accept(null));
    };
  return {
    ensureIndexes: () => Promise.resolve(),
    createMerchant: (merchant) => {
      changes.push(['createMerchant', merchant]);
      return Promise.resolve(accept({ publicKey: 'the-public-key-itself', webhookSecret: 'whsec_new' }));
    },
    addKey: (id, publicKey = 'a-public-key-that-was-made') => {
      changes.push(['addKey', id, publicKey]);
      return Promise.resolve(accept({ publicKey }));
    },
    removeKey: change('removeKey'),
    setWallet: change('setWallet'),
    setLimits: change('setLimits'),
    setWebhooks: change('setWebhooks'),
    rotateWebhookSecret: () => Promise.resolve(accept({ webhookSecret: 'whsec_rotated' })),
    suspend: (id) =>
      id === 'demo'
        ? change('suspend')(id)
        : Promise.resolve(
            refuse({ code: 'merchant.unknown', message: `there is no merchant ${id}` } as const),
          ),
    resume: change('resume'),
    list: () => Promise.resolve([demo]),
  };
}

/**
 * A command line over fakes: records what it printed, and its requests to the directory and the operations APIs.
 *
 * @param answers the answers in order, of which the last is repeated; or a function that answers each address
 */
export function commandLine(
  answers: readonly OperationsAnswer[] | ((url: string) => OperationsAnswer) = [],
  report: AuditReport = cleanReport,
) {
  const printed: string[] = [];
  const complained: string[] = [];
  const changes: unknown[] = [];
  const shown: string[] = [];
  const requests: unknown[] = [];
  let nowMs = 0;
  const remaining = typeof answers === 'function' ? [] : [...answers];
  const answerTo = (url: string): OperationsAnswer | undefined => {
    if (typeof answers === 'function') return answers(url);
    return remaining.length > 1 ? remaining.shift() : remaining[0];
  };
  const ports: CliPorts = {
    environment: {
      NODE_ENV: 'test',
      OPERATOR_TOKEN: 'operator-token-of-tests',
      PESEWA_APPROVER_TOKEN: 'approver-token-of-tests',
    },
    print: (text) => void printed.push(text),
    printError: (text) => void complained.push(text),
    progress: (text) => void (text !== '' && shown.push(text)),
    colours: false,
    openDirectory: () =>
      Promise.resolve({ admin: pretendedAdmin(changes), [Symbol.asyncDispose]: () => Promise.resolve() }),
    exchange: async ({ url, token, body }) => {
      requests.push(body === undefined ? url : { url, token, body });
      return answerTo(url) ?? { status: 404, body: { code: 'not_found', message: 'there is nothing' } };
    },
    download: async ({ url, token, file }) => {
      requests.push({ url, token, file });
      return answerTo(url) ?? { status: 200, body: undefined };
    },
    upload: async ({ urlOf, token, file, progress }) => {
      const url = urlOf('ab'.repeat(32));
      requests.push({ url, token, file });
      progress(1, 2);
      return answerTo(url) ?? { status: 404, body: { code: 'not_found', message: 'there is nothing' } };
    },
    prepare: () => Promise.resolve(),
    audit: ({ onProgress, ...request }) => {
      requests.push(request);
      onProgress({ stage: 'postings', done: 3_000, total: 12_000 });
      return Promise.resolve(report);
    },
    clock: {
      nowMs: () => nowMs,
      sleep: (durationMs) => {
        nowMs += durationMs;
        return Promise.resolve();
      },
    },
    ids: { next: (prefix) => `${prefix}-1` },
  };
  return {
    run: (...call: string[]) => runProgram(ports, [...call, ...addresses]),
    printed: () => printed.join(''),
    complained: () => complained.join(''),
    /** The temporary lines shown while waiting. */
    shown,
    ports,
    changes,
    requests,
  };
}
