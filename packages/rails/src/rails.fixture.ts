import { railSettings } from './connectors.ts';
import type { Transport, TransportRequest } from './http-transport.ts';
import { takesCollections, takesPayouts } from './rail.ts';
import { openRails } from './rails.ts';
import { upstreamRail } from './upstream/upstream.ts';

/** The minimum settings of a rail. */
export const minimalSettings = {
  ...upstreamRail({ name: 'upstream', url: 'http://rail.test', publicKey: 'pesewa-at-upstream' }),
  transferUrl: 'http://rail.test/transfer/',
  collectionsUrl: 'http://rail.test/collect',
};

/** The time of the tests' clock until a test moves it. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A clock that moves only when a test moves it or code sleeps on it. */
export function createTestClock() {
  const clock = {
    now: START_MS,
    nowMs: () => clock.now,
    sleep: async (durationMs: number) => void (clock.now += durationMs),
  };
  return clock;
}

/** One rail over a scripted network; records every request. */
export function createRailFixture(transport: Transport, settings: object = {}) {
  const requests: TransportRequest[] = [];
  const warnings: unknown[] = [];
  const clock = createTestClock();
  const rails = openRails(railSettings.parse(JSON.stringify([{ ...minimalSettings, ...settings }])), {
    clock,
    logger: { warn: (...line: unknown[]) => void warnings.push(line), info: () => undefined },
    transport: (request) => {
      requests.push(request);
      return transport(request);
    },
  });
  const [rail] = rails.all.filter(takesPayouts).filter(takesCollections);
  if (rail === undefined) throw new Error('no rail was opened');
  return { rail, requests, clock, warnings };
}

/** A network that gives every request the same answer; an object is sent as JSON. */
export function answering(status: number, body: unknown, retryAfter?: string): Transport {
  const bodyText = typeof body === 'string' ? body : JSON.stringify(body);
  return async () => ({ status, retryAfter, bodyText });
}

/** A payout without its optional fields, to a country that requires none of them. */
export const payout = {
  reference: 'po-1',
  country: 'GHA',
  currency: 'GHS',
  channel: 'Mobile Money',
  amount: 10_050n,
  beneficiary: { accountName: 'A. Name', accountNumber: '233240000000', bankCode: 'GHMTN' },
  sender: { name: 'Demo', email: 'demo@example.com' },
} as const;

/** A collection without its optional fields. */
export const collection = {
  reference: 'co-1',
  country: 'GHA',
  currency: 'GHS',
  operatorCode: 'GHMTN',
  transactionType: '2',
  amount: 10_050n,
  customerNumber: '233200000000',
} as const;
