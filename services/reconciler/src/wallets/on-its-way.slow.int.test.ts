import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openComparison } from '../fixtures/comparison.ts';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox as keepIn } from '../fixtures/outboxes.ts';
import {
  accepted,
  callback,
  captured,
  completed,
  floatFunded,
  ids,
  refunded,
  reversed,
} from '../fixtures/owners.ts';
import type { Comparison } from './comparison.ts';

const harness = createHarness('fly', process.env);
const { about, answers, asked, config, database, operator, publish, rowOf, slow } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const closers = new AsyncDisposableStack();
const FUNDED = 100_000_000n;
/** What a payout of 100 KES takes from the wallet including the rail's fee, and what its reversal returns. */
const [PAID, BACK] = [10_050n, 10_000n];

/** The rail's balances. */
const rail = { KES: 0n, GHS: 0n };
const move = (currency: keyof typeof rail, minor: bigint) => {
  rail[currency] += minor;
};
let comparison: Comparison;

beforeAll(async () => {
  await harness.open();
  move('KES', FUNDED);
  comparison = await openComparison(config, closers, {
    name: 'upstream',
    balances: async () => ({
      kind: 'answered',
      wallets: Object.entries(rail).map(([currency, minor]) => ({ currency, minor })),
    }),
  });
  await publish(floatFunded('upstream', 'KES', FUNDED));
  await until('the float', async () => (await inKes())[0]?.drift === 0n);
});
afterAll(async () => {
  await closers.disposeAsync();
  await harness.close();
});

const wallet = () =>
  database()
    .collection<Record<string, unknown> & { _id: string }>('wallets')
    .findOne({ _id: 'upstream:KES' });
const runsOut = () => database().collection('runs').countDocuments({ withinRange: false });
const breaks = async (currency = 'KES') => (await operator(`/breaks?reference=upstream:${currency}`)).items;
const inKes = async (found = comparison.run()) => (await found).filter(({ currency }) => currency === 'KES');

/** A payout that is finished, here and at the rail. */
async function paid(): Promise<string> {
  const reference = ids.next('po');
  answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
  move('KES', -PAID);
  await publish(accepted(reference), completed(reference), captured(reference));
  await until('the payout', async () => (await rowOf(reference))?.posted === true);
  return reference;
}

/** An event that webhook-ingress has committed, and its relay does not send. */
const keepInOutbox = (name: string) => keepIn(harness.gateway('ingress'), name);

it('makes nothing of a reversal, wherever its news is on the way', async () => {
  const reference = await paid();
  const release = await keepInOutbox('callback');
  move('KES', BACK);
  // It waits in webhook-ingress for longer than a comparison does.
  expect(await inKes()).toEqual([]);
  expect(await wallet()).toMatchObject({ latest: { withinRange: true } });
  expect(await operator('/status')).toMatchObject({ comparison: { outOfRange: [] } });

  // Then it has arrived, and its rail takes a while to confirm it.
  const gate = Promise.withResolvers<void>();
  slow.set(reference, gate.promise);
  const compared = comparison.run();
  await publish(callback(reference, 'REVERSED'));
  await release();
  expect(await inKes(compared)).toMatchObject([{ drift: BACK, withinRange: true }]);
  await until('the question', () => asked.includes(reference));
  expect(await inKes()).toMatchObject([{ drift: BACK, withinRange: true }]);

  // Then the fact is published, and its gateway has not applied it yet.
  answers.set(reference, { kind: 'reversed', amount: 10_000n, fee: null, reason: 'Returned' });
  gate.resolve();
  await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
  for (let looks = 0; looks < 5; looks += 1)
    expect(await inKes()).toMatchObject([{ drift: BACK, withinRange: true }]);

  // Then the gateway has published it, and the ledger has not posted it yet.
  await publish(reversed(reference));
  await until('the reversal', async () => (await rowOf(reference))?.status === 'reversed');
  for (let looks = 0; looks < 5; looks += 1)
    expect(await inKes()).toMatchObject([{ drift: BACK, withinRange: true }]);

  await publish(refunded(reference));
  expect(await inKes()).toMatchObject([{ drift: 0n, withinRange: true }]);
  expect([await runsOut(), await breaks()]).toEqual([0, []]);
});

/** Payments come and go, and outboxes are never empty, until it is stopped. */
function load(): () => Promise<void> {
  let goesOn = true;
  const busy = async () => {
    let release = await keepInOutbox('busy-0');
    for (let made = 1; goesOn; made += 1) {
      const next = await keepInOutbox(`busy-${made}`);
      await release();
      release = next;
    }
    await release();
  };
  const pay = async () => {
    while (goesOn) await paid();
  };
  const all = Promise.all([busy(), pay(), pay()]);
  return async () => {
    goesOn = false;
    await all;
  };
}

it.each([
  ['+0.01', 'GHS', 1n],
  ['-0.01', 'GHS', -1n],
  // Payments in flight in a wallet hide that much of its drift.
  ['+1000', 'KES', 100_000n],
  ['-1000', 'KES', -100_000n],
] as const)('finds %s %s too much at the rail while payments come and go', async (_, currency, by) => {
  const breakId = `upstream:${currency}/balance`;
  const found = async () => (await breaks(currency)).find(({ id }) => id === breakId);
  const stop = load();
  try {
    move(currency, by);
    await eventually(async () => {
      await comparison.run();
      expect(await found()).toMatchObject({ status: 'open' });
    });
    expect(String((await found())?.['amount']).startsWith('-')).toBe(by < 0n);
  } finally {
    await stop();
  }
  const quiet = await comparison.run();
  expect(quiet.find((run) => run.currency === currency)).toMatchObject({ unexplained: by });
  move(currency, -by);
  await comparison.run();
  expect(await found()).toMatchObject({ status: 'resolved' });
});
