import { exchange } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { openScenario } from '../scenarios/scenario.ts';
import { sharedCluster } from './shared-cluster.ts';

/** Some tens of payouts: half an hour at full load, made short. */
const BOUND_BYTES = 60_000;
const PAYOUTS_MAX = 1_000;
const AWAY_MS = 40_000;
const accepting = ['payout-gateway', 'collection-gateway', 'webhook-ingress'] as const;

it('Kafka away: acceptance goes on to its bound, processes start and stay well, and all that was accepted ends once', async () => {
  const cluster = await sharedCluster();
  await using scenario = await openScenario(
    'away',
    { 'payout-gateway': { OUTBOX_WAITING_BYTES_MAX: String(BOUND_BYTES) } },
    {},
    () => Promise.resolve(cluster),
  );
  const { stack, demo } = scenario;
  const { operations } = stack.runFile();
  const accepted: string[] = [];
  let sent = 0;
  /** Sends a payout; gives the code of its answer. */
  const pay = async (): Promise<string | undefined> => {
    sent += 1;
    const reference = scenario.reference(`away-${sent}`);
    const { responseCode } = await demo.requestPayout({
      reference,
      amount: '10',
      accountNumber: '1234567890',
    });
    if (responseCode === '09') accepted.push(reference);
    return responseCode;
  };
  const expectWell = async () => {
    for (const name of accepting) {
      for (const probe of ['readyz', 'livez']) {
        const { status, text } = await exchange(`${operations[name]}/${probe}`);
        expect([name, probe, status, status === 200 ? '' : text]).toEqual([name, probe, 200, '']);
      }
    }
  };
  expect(await pay()).toBe('09');
  await scenario.payoutBecomes(accepted[0] ?? '', 'COMPLETED');

  await Promise.all(cluster.brokers.map((broker) => broker.kill()));
  const awayUntilMs = performance.now() + AWAY_MS;
  while (accepted.length < 30) expect(await pay()).toBe('09');
  await expectWell();
  // A process that dies with unsent events is restarted, and does not wait for Kafka.
  const gateway = stack.service('payout-gateway');
  const before = gateway.pid();
  process.kill(before, 'SIGKILL');
  await eventually(() => expect(gateway.pid()).not.toBe(before));
  await gateway.ready();
  await expectWell();
  let code = await pay();
  while (code === '09' && sent < PAYOUTS_MAX) code = await pay();
  expect(code).toBe('91');
  // What was accepted is published all the same.
  expect((await demo.lookUpPayout(accepted.at(-1) ?? '')).responseData?.transactionStatus).toBe(
    'INITIALIZED',
  );
  await eventually(async () => {
    await expectWell();
    expect(performance.now()).toBeGreaterThan(awayUntilMs);
  }, 2 * AWAY_MS);
  expect(await pay()).toBe('91');

  await Promise.all(cluster.brokers.map((broker) => broker.start()));
  await eventually(async () => expect(await pay()).toBe('09'), 60_000);
  for (const reference of accepted) {
    const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
    await eventually(
      async () => expect(await scenario.entryKinds(ours)).toEqual(['capture', 'fee', 'hold', 'railCost']),
      60_000,
    );
    expect(await scenario.executions(ours)).toBe(1);
    await eventually(async () => expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED']));
  }
  await expectWell();
  expect(await scenario.violations()).toEqual([]);
}, 400_000);
