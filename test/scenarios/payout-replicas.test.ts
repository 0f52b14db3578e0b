import { createMerchantClient, type MerchantClient, type Stack } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withShortSessions } from './crash-runner.ts';
import { stateOf } from './process-state.ts';
import { openScenario, type Scenario } from './scenario.ts';

const PAYOUTS = 40;
/** With few payouts at a time and a slow rail, one replica alone cannot finish before the other has begun. */
const quick = { SUBMIT_CONCURRENCY_MAX: '4' };
const RAIL_LATENCY_MS = 200;

let scenario: Scenario;
let first: { readonly service: ReturnType<Stack['service']>; readonly demo: MerchantClient };
let second: typeof first;

beforeAll(async () => {
  scenario = await openScenario('payout-replicas', withShortSessions({ 'payout-gateway': quick }));
  const { stack, demo } = scenario;
  first = { service: stack.service('payout-gateway'), demo };
  const replica = await stack.replicate('payout-gateway');
  const { collectionsUrl, merchants } = stack.runFile();
  const publicKey = merchants[0]?.publicKey ?? '';
  second = {
    service: replica.service,
    demo: createMerchantClient({ transferUrl: replica.url, collectionsUrl, publicKey }),
  };
  await scenario.joined('payout-gateway', 2);
  await stack.simulator.setFaults({ latencyMs: RAIL_LATENCY_MS });
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const places = [
  { currency: 'NGN', country: 'Nigeria' },
  { currency: 'GHS', country: 'Ghana' },
  { currency: 'GMD', country: 'Gambia' },
  { currency: 'XOF', country: 'Ivory Coast' },
] as const;

/** Forty payouts over four wallets, so that both replicas have partitions with work. */
const requests = (label: string) =>
  Array.from({ length: PAYOUTS }, (_, index) => ({
    reference: scenario.reference(`${label}-${index}`),
    amount: '100',
    accountNumber: '0123459999',
    ...(places[index % places.length] ?? places[0]),
  }));

async function expectPaidOnce(reference: string): Promise<void> {
  const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
  await eventually(async () => {
    expect(await scenario.entryKinds(ours)).toEqual(['capture', 'fee', 'hold', 'railCost']);
    expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED']);
  });
  expect(await scenario.executions(ours)).toBe(1);
  expect(await scenario.stack.operator.breaks(ours)).toEqual([]);
}

describe('two replicas of payout-gateway (X1, X2, P5)', () => {
  it('accept a reference once, whichever of them is asked', async () => {
    const [request] = requests('same');
    if (!request) throw new Error('no request');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).demo.requestPayout(request),
      ),
    );
    expect(new Set(answers.map(({ responseCode }) => responseCode))).toEqual(new Set(['09']));
    expect(new Set(answers.map(({ responseData }) => responseData?.transactionReference)).size).toBe(1);
    await expectPaidOnce(request.reference);
  });

  it.each([
    'payouts.submit.before-call',
    'payouts.submit.after-call',
    'payouts.outcome.before-commit',
    'payout-gateway.batch.before-commit',
  ])('share the work; one that freezes at %s and wakes up late pays nothing twice', async (point) => {
    const { simulator } = scenario.stack;
    await second.service.restart({ CRASH_AT: `${point}:2:freeze` });
    await second.service.ready();
    await scenario.joined('payout-gateway', 2);
    const frozen = second.service.pid();
    const batch = requests(point);
    const answers = await Promise.all(batch.map((request) => first.demo.requestPayout(request)));
    expect(new Set(answers.map(({ responseCode }) => responseCode))).toEqual(new Set(['09']));
    await eventually(async () => expect(await stateOf(frozen)).toBe('T'));
    try {
      // The other replica continues the frozen one's payouts, once its session and the grace time are over.
      for (const { reference } of batch) await expectPaidOnce(reference);
    } finally {
      process.kill(frozen, 'SIGCONT');
    }
    // The frozen replica must notice that it lost its partitions, and work again.
    const more = requests(`${point}-later`).slice(0, places.length);
    for (const request of more) expect((await second.demo.requestPayout(request)).responseCode).toBe('09');
    for (const { reference } of [...more, ...batch]) await expectPaidOnce(reference);
    await second.service.ready();
    const journal = await Promise.all(
      batch.map(async ({ reference }) => {
        const { responseData } = await first.demo.lookUpPayout(reference);
        return simulator.journal(responseData?.transactionReference ?? '');
      }),
    );
    const duplicates = journal.flat().filter(({ outcome }) => outcome === 'duplicate');
    expect(duplicates, 'submissions of what the rail already had').toEqual([]);
  });

  it('leave books that hold from the first entry on (L1 to L12)', async () => {
    await eventually(async () => expect(await scenario.violations()).toEqual([]));
  });
});
