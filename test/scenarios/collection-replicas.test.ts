import { collectionWebhook, parseJson } from '@pesewa/contracts';
import {
  type CollectionRequest,
  createMerchantClient,
  type MerchantClient,
  postJson,
  type Stack,
} from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCollectingMerchant } from './collecting-merchant.ts';
import { completedCallback } from './collection-callback.ts';
import { withShortSessions } from './crash-runner.ts';
import { stateOf } from './process-state.ts';
import { openScenario, type Scenario } from './scenario.ts';

const DEADLINE_MS = 90_000;
/** A frozen process may keep a transaction open for the minute that the server allows. */
const FROZEN_TEST_TIMEOUT_MS = 240_000;
const RAIL_TIMEOUT_MS = 2_000;
/** The rail is slow enough that requests sent together are in progress together. */
const RAIL_LATENCY_MS = 200;

interface Replica {
  readonly service: ReturnType<Stack['service']>;
  readonly demo: MerchantClient;
}

const closers = new AsyncDisposableStack();
let scenario: Scenario;
let client: MongoClient;
let first: Replica;
let second: Replica;
let ingressUrls: readonly string[];

beforeAll(async () => {
  const environment = withShortSessions({
    'collection-gateway': { RESUBMIT_GRACE_MS: '6000' },
    // A killed replica keeps its partitions until its session ends and its work waits; no break may open before that.
    reconciler: { NOT_FOUND_GRACE_MS: '120000' },
  });
  scenario = closers.use(await openScenario('collect-replicas', environment, { timeoutMs: RAIL_TIMEOUT_MS }));
  const { stack, demo } = scenario;
  const { ingressUrl, mongodbUrl, transferUrl, merchants } = stack.runFile();
  client = closers.use(await MongoClient.connect(mongodbUrl));
  const gateway = await stack.replicate('collection-gateway');
  const ingress = await stack.replicate('webhook-ingress');
  await stack.replicate('reconciler');
  await scenario.joined('collection-gateway', 2);
  await scenario.joined('reconciler', 2);
  ingressUrls = [ingressUrl, ingress.url];
  const publicKey = merchants[0]?.publicKey ?? '';
  first = { service: stack.service('collection-gateway'), demo };
  second = {
    service: gateway.service,
    demo: createMerchantClient({ transferUrl, collectionsUrl: gateway.url, publicKey }),
  };
  await stack.simulator.setFaults({ latencyMs: RAIL_LATENCY_MS });
}, 240_000);

afterAll(async () => {
  await closers.disposeAsync();
});

const orders = {
  link: { operatorCode: 'GMWAV', country: 'GM', currency: 'GMD', amount: '100.50' },
  stk: { operatorCode: 'CIMTN', country: 'CI', currency: 'XOF', amount: '1500' },
  stkThenComplete: { operatorCode: 'GMAFR', country: 'GM', currency: 'GMD', amount: '100.50' },
  otp: { operatorCode: 'GMQMO', country: 'GM', currency: 'GMD', amount: '100.50' },
  singleStep: { operatorCode: 'GHMTN', country: 'GH', currency: 'GHS', amount: '20' },
} as const;
const RIGHT_OTP = '123456';

let numbers = 0;

function requestFor(flow: keyof typeof orders, label: string, digits = '9999'): CollectionRequest {
  numbers += 1;
  const customerNumber = `220${String(numbers).padStart(5, '0')}${digits}`;
  return { ...orders[flow], reference: scenario.reference(`${label}-${numbers}`), customerNumber };
}

const balanced = (index: number) => (index % 2 === 0 ? first : second).demo;

/** Our reference of a collection, once both replicas know it. */
async function oursOf(request: CollectionRequest): Promise<string> {
  const { transactionReference, responseDetails } = await first.demo.initiateCollection(request);
  expect(responseDetails.failedReason).toBe('DUPLICATE REFERENCE');
  return transactionReference;
}

/** The rail's answers to the completions that reached it, in order. */
async function completions(ours: string): Promise<readonly string[]> {
  const journal = await scenario.stack.simulator.journal(ours);
  return journal.filter(({ operation }) => operation === 'complete').map(({ outcome }) => outcome);
}

async function becomes(request: CollectionRequest, message: string): Promise<void> {
  await eventually(async () => {
    for (const { demo } of [first, second])
      expect((await demo.checkCollection(request)).responseMessage).toBe(message);
  }, DEADLINE_MS);
}

async function webhookStatuses(request: CollectionRequest): Promise<readonly string[]> {
  const received = await scenario.stack.simulator.received(scenario.merchantId, request.reference);
  return [...new Set(received.map(({ body }) => body))].map(
    (body) => collectionWebhook.parse(parseJson(body)).status,
  );
}

/** Expects that the collection was paid, credited and reported exactly once, and has no break. */
async function expectCreditedOnce(request: CollectionRequest): Promise<void> {
  await becomes(request, 'COMPLETED');
  const ours = await oursOf(request);
  await eventually(async () => {
    expect(await scenario.entryKinds(ours)).toEqual(['collect', 'fee', 'railCost']);
    expect(await webhookStatuses(request)).toEqual(['COMPLETED']);
  });
  expect(await scenario.executions(ours)).toBe(1);
  const journal = await scenario.stack.simulator.journal(ours);
  expect(
    journal.filter(({ operation, outcome }) => operation === 'payin' && outcome === 'accepted'),
  ).toHaveLength(1);
  expect(await scenario.stack.operator.breaks(ours)).toEqual([]);
}

describe('two replicas of collection-gateway (P5, P10, X1)', () => {
  it('accept a reference once, whichever of them is asked', async () => {
    const request = requestFor('stk', 'same');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => balanced(index).initiateCollection(request)),
    );
    const reasons = answers.map(
      ({ responseDetails: { responseCode, failedReason } }) => failedReason ?? responseCode,
    );
    expect(reasons.toSorted()).toEqual(['09', ...Array.from({ length: 19 }, () => 'DUPLICATE REFERENCE')]);
    expect(new Set(answers.map(({ transactionReference }) => transactionReference)).size).toBe(1);
    await expectCreditedOnce(request);
  });

  it('pass on three wrong OTPs between them, however many come at once', async () => {
    const request = requestFor('otp', 'guessed');
    const { transactionReference: ours } = await first.demo.initiateCollection(request);
    const guesses = Array.from({ length: 12 }, (_, index) => String(654_300 + index));
    const answers = await Promise.all(
      guesses.map((otpCode, index) => balanced(index).completeCollection(request, otpCode)),
    );
    const reasons = new Set(answers.map(({ responseDetails }) => responseDetails.failedReason));
    expect([...reasons]).toContain('INCORRECT OTP');
    const sensible = ['INCORRECT OTP', 'OTP ATTEMPTS EXCEEDED', 'COLLECTION CLOSED', 'SERVICE UNAVAILABLE'];
    expect(sensible).toEqual(expect.arrayContaining([...reasons]));
    const right = await second.demo.completeCollection(request, RIGHT_OTP);
    expect(right.responseDetails.responseCode).toBe('06');
    await becomes(request, 'FAILED');
    expect(await completions(ours)).toEqual(['incorrect otp', 'incorrect otp', 'incorrect otp']);
    await eventually(async () => expect(await webhookStatuses(request)).toEqual(['FAILED']));
    expect(await scenario.entryKinds(ours)).toEqual([]);
    expect(await scenario.executions(ours)).toBe(0);
  });

  it('make one call to the rail of two right OTPs that come at once, and answer both sensibly', async () => {
    const requests = Array.from({ length: 8 }, () => requestFor('otp', 'both'));
    await Promise.all(requests.map((request, index) => balanced(index).initiateCollection(request)));
    const answers = await Promise.all(
      requests.flatMap((one) => [first, second].map(({ demo }) => demo.completeCollection(one, RIGHT_OTP))),
    );
    expect(answers).toMatchObject(answers.map(() => ({ responseDetails: { responseCode: '09' } })));
    for (const request of requests) {
      await expectCreditedOnce(request);
      expect(await completions(await oursOf(request))).toEqual(['accepted']);
    }
  });

  it('lose no collection that was accepted where one of them is killed under load', async () => {
    const flows = Object.keys(orders) as (keyof typeof orders)[];
    const requests = Array.from({ length: 60 }, (_, index) =>
      requestFor(flows[index % flows.length] ?? 'stk', 'load'),
    );
    const merchants = [first, second].map(({ demo }) => createCollectingMerchant(demo, DEADLINE_MS));
    let initiatedCount = 0;
    const collecting = requests.map(async (request, index) => {
      const merchant = merchants[Math.floor(index / flows.length) % 2];
      await merchant?.initiate(request);
      initiatedCount += 1;
      if (request.operatorCode === 'GMQMO') await merchant?.complete(request, RIGHT_OTP);
      if (request.operatorCode === 'GMAFR') await merchant?.complete(request, undefined);
    });
    await eventually(() => expect(initiatedCount).toBeGreaterThan(0));
    process.kill(second.service.pid(), 'SIGKILL');
    await Promise.all(collecting);
    expect(merchants.flatMap((merchant) => merchant.denied())).toEqual([]);
    await second.service.ready();
    await Promise.all(requests.map(expectCreditedOnce));
  });
});

describe('a replica that freezes and wakes up late (X1, X2, P10)', () => {
  it.each(['collections.initiate.before-call', 'collections.outcome.before-commit'])(
    'at %s initiates nothing a second time',
    async (point) => {
      const request = requestFor('stk', 'frozen');
      const pid = await arm(point);
      const asked = second.demo.initiateCollection(request).catch(() => undefined);
      await eventually(async () => expect(await stateOf(pid)).toBe('T'));
      try {
        expect((await first.demo.checkCollection(request)).responseMessage).toBe('PENDING');
        await eventually(
          async () => expect((await first.demo.checkCollection(request)).responseMessage).toBe('COMPLETED'),
          DEADLINE_MS,
        );
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await asked;
      await expectCreditedOnce(request);
    },
    FROZEN_TEST_TIMEOUT_MS,
  );

  it.each(['collections.complete.before-call', 'collections.complete.after-call'])(
    'at %s completes nothing behind the back of the one that went on',
    async (point) => {
      const request = requestFor('otp', 'frozen');
      const pid = await arm(point);
      await first.demo.initiateCollection(request);
      const asked = second.demo.completeCollection(request, RIGHT_OTP).catch(() => undefined);
      await eventually(async () => expect(await stateOf(pid)).toBe('T'));
      try {
        await createCollectingMerchant(first.demo, DEADLINE_MS).complete(request, RIGHT_OTP);
        await eventually(
          async () => expect((await first.demo.checkCollection(request)).responseMessage).toBe('COMPLETED'),
          DEADLINE_MS,
        );
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await asked;
      await expectCreditedOnce(request);
      expect(await completions(await oursOf(request))).toEqual(['accepted']);
    },
    FROZEN_TEST_TIMEOUT_MS,
  );

  async function arm(point: string): Promise<number> {
    await second.service.restart({ CRASH_AT: `${point}:1:freeze` });
    await second.service.ready();
    await scenario.joined('collection-gateway', 2);
    return second.service.pid();
  }
});

describe('two replicas of webhook-ingress and of reconciler (I1, R2, R3)', () => {
  it('make one hint and one break of one callback that comes to both at once, again and again', async () => {
    const request = requestFor('stk', 'called', '0017');
    const { transactionReference: ours } = await first.demo.initiateCollection(request);
    const body = completedCallback(request, ours);
    const deliveries = Array.from(
      { length: 10 },
      (_, index) => ingressUrls[index % ingressUrls.length] ?? '',
    );
    const answers = await Promise.all(
      deliveries.map((url) => postJson(`${url}/rails/upstream/collections`, body)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const callbacks = client.db(`${scenario.prefix}_ingress`).collection('callbacks');
    expect(await callbacks.find({ reference: ours }).toArray()).toMatchObject([
      { deliveries: deliveries.length },
    ]);
    const { operator } = scenario.stack;
    await eventually(async () =>
      expect((await operator.breaks(ours)).map(({ kind }) => kind)).toEqual(['callback.denied']),
    );
    const hints = (await operator.timeline(ours)).filter(({ what }) => what === 'hint');
    expect(hints.map(({ times }) => Number(times))).toEqual([1]);
    expect((await first.demo.checkCollection(request)).responseMessage).toBe('PENDING');
    expect(await webhookStatuses(request)).toEqual([]);
  });
});

describe('after all that', () => {
  it('the books hold from the first entry on (L1 to L12)', async () => {
    await eventually(async () => expect(await scenario.violations()).toEqual([]));
  });
});
