import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectionBody, parseJson, payoutBody, serviceNames } from '@pesewa/contracts';
import { type CollectionRequest, type PayoutRequest, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { expressionsOf, readMonitoring, unknownMetrics } from '../architecture/monitoring.ts';
import { personalIn } from './personal.ts';
import { openScenario, polledOnDemand, type Scenario } from './scenario.ts';
import { openCollector } from './spans.ts';

const OTP = '123456';
const WRONG_OTP = '654321';
const small = { amount: '10', accountNumber: '0123459999' };
const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'packages', 'cli', 'src', 'main.ts');
const closers = new AsyncDisposableStack();
let collector: Awaited<ReturnType<typeof openCollector>>;
let scenario: Scenario;
let runFile: string;

beforeAll(async () => {
  collector = closers.use(await openCollector());
  const { environment } = collector;
  const traced = Object.fromEntries(serviceNames.map((name) => [name, environment]));
  const { reconciler, ...others } = traced;
  scenario = closers.use(
    await openScenario('timeline', { ...others, reconciler: { ...reconciler, ...polledOnDemand } }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'pesewa-timeline-'));
  closers.defer(() => rm(folder, { recursive: true, force: true }));
  runFile = join(folder, 'run.json');
  await writeFile(runFile, JSON.stringify(scenario.stack.runFile()));
});

afterAll(() => closers.disposeAsync());

/** Runs the command line as a program against this stack. */
function pesewa(...call: readonly string[]) {
  return pesewaWith({}, ...call);
}

function pesewaWith(variables: Readonly<Record<string, string>>, ...call: readonly string[]) {
  return new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      const env = { PATH: process.env['PATH'] ?? '', ...variables };
      execFile(
        process.execPath,
        [program, '--run-file', runFile, ...call],
        { env },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      );
    },
  );
}

const timeline = z.object({
  reference: z.string(),
  lines: z.array(z.object({ at: z.string(), service: z.string(), what: z.string(), detail: z.string() })),
});

/** The timeline of a payment, once its webhook has arrived and its money is booked. */
async function timelineOf(ours: string, ...call: readonly string[]) {
  await eventually(async () => {
    const deliveries = await scenario.stack.operator.deliveries(ours);
    expect(deliveries.map(({ state }) => state)).toEqual(['delivered']);
    expect(await scenario.entryKinds(ours)).toContain('railCost');
    const seen = await scenario.stack.operator.timeline(ours);
    expect(seen.map(({ what }) => what)).toContain('hint');
  }, 60_000);
  const { code, stdout, stderr } = await pesewa('reconcile', 'timeline', ...call, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { reference, lines } = timeline.parse(JSON.parse(stdout));
  expect(reference).toBe(ours);
  const times = lines.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  return { stdout, happened: lines.map(({ service, what }) => `${service}: ${what}`) };
}

/** Expects the wanted lines in this order; other lines may be between them. */
function expectInOrder(happened: readonly string[], wanted: readonly string[]): void {
  let from = 0;
  for (const line of wanted) {
    const at = happened.indexOf(line, from);
    expect(at, `${line} after ${happened.slice(0, from).join(', ')} in ${happened.join(', ')}`).not.toBe(-1);
    from = at + 1;
  }
}

it('of a payout that was unclear has every service’s part, in order, and no personal data', async () => {
  // The rail executes it but answers HTTP 500, and the merchant's endpoint fails at the first webhook.
  const request: PayoutRequest = {
    reference: scenario.reference('unclear'),
    amount: '100',
    accountNumber: '0123450004',
  };
  await scenario.stack.simulator.setFaults({ merchantEndpoint: { status: 500, times: 1 } });
  await scenario.demo.requestPayout(request);
  const ours = await scenario.payoutBecomes(request.reference, 'COMPLETED');
  const { happened, stdout } = await timelineOf(ours, ours);
  const submitted = [
    'payout-gateway: request accepted',
    'ledger: entry hold',
    'payout-gateway: held',
    'payout-gateway: attempt 1',
  ];
  // The rail calls back when it likes: a slow gateway records the rail's answer after the callback.
  expectInOrder(happened, [...submitted, 'payout-gateway: no clear answer from the rail']);
  const completed = [
    ...submitted,
    // A poll that only confirms its callback is not written.
    'webhook-ingress: callback',
    'reconciler: hint',
    'payout-gateway: completed',
  ];
  expectInOrder(happened, [...completed, 'ledger: entry capture']);
  expectInOrder(happened, [
    ...completed,
    'webhook-dispatcher: webhook payout-completed',
    'webhook-dispatcher: webhook attempt 1',
    'webhook-dispatcher: webhook attempt 2',
  ]);
  const printed = await pesewa('timeline', request.reference, '--merchant', scenario.merchantId);
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toContain(`${ours}: COMPLETED, step ended`);
  const personal = personalIn(parseJson(payoutBody(request)));
  expect(personal).toContain(request.accountNumber);
  for (const secret of personal) expect(`${printed.stdout}${stdout}`).not.toContain(secret);
});

it('of a collection has its completions too, and no personal data and no OTP', async () => {
  const request: CollectionRequest = {
    reference: scenario.reference('otp'),
    amount: '100.50',
    operatorCode: 'GMQMO',
    currency: 'GMD',
    country: 'GM',
    customerNumber: '2203459999',
  };
  await scenario.demo.initiateCollection(request);
  await scenario.demo.completeCollection(request, WRONG_OTP);
  await scenario.demo.completeCollection(request, OTP);
  const ours = await eventually(async () => {
    const [delivery] = await scenario.stack.operator.deliveries(request.reference);
    return z.string().parse(delivery?.['reference']);
  }, 60_000);
  const asked = [
    'collection-gateway: request accepted',
    'collection-gateway: attempt 1',
    'collection-gateway: acknowledged by the rail',
    'collection-gateway: completion 1 requested',
    'collection-gateway: completion 1 refused by the rail',
    'collection-gateway: completion 2 requested',
  ];
  // The rail calls back when it likes: a slow gateway records the rail's answer after the callback.
  const found = ['webhook-ingress: callback', 'reconciler: hint'];
  const completed = [...asked, ...found, 'collection-gateway: completed'];
  // What the services know of it arrives by topics of their own, in no order among them.
  const stdout = await eventually(async () => {
    const known = await timelineOf(ours, request.reference, '--merchant', scenario.merchantId);
    expectInOrder(known.happened, [...asked, 'collection-gateway: completion 2 acknowledged by the rail']);
    expectInOrder(known.happened, [...completed, 'ledger: entry collect']);
    const sent = ['webhook collection-completed', 'webhook attempt 1'];
    expectInOrder(known.happened, [...completed, ...sent.map((what) => `webhook-dispatcher: ${what}`)]);
    return known.stdout;
  }, 60_000);
  const printed = await pesewa('reconcile', 'timeline', ours);
  const personal = [...personalIn(parseJson(collectionBody(request, OTP))), OTP, WRONG_OTP];
  expect(personal).toContain(request.customerNumber);
  for (const secret of personal) expect(`${printed.stdout}${stdout}`).not.toContain(secret);
});

it('names a service that does not answer, and shows what the others know', async () => {
  const reference = scenario.reference('alone');
  await scenario.demo.requestPayout({ ...small, reference });
  const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
  const nowhere = { WEBHOOK_DISPATCHER_URL: 'http://127.0.0.1:1' };
  const { code, stdout, stderr } = await pesewaWith(nowhere, 'reconcile', 'timeline', ours);
  expect(code).toBe(1);
  expect(stdout).toContain('request accepted');
  expect(stdout).toContain('missing: what webhook-dispatcher knows');
  expect(stderr).toContain('http://127.0.0.1:1 does not answer');
});

it('reports the state of reconciliation, and compares the wallets now', async () => {
  await eventually(async () => {
    const { code, stdout, stderr } = await pesewa('reconcile', 'run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('yes');
  }, 60_000);
  const { code, stdout, stderr } = await pesewa('reconcile', 'status');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const part of [
    'payouts',
    'collections',
    'upstream',
    'wallets    last comparison',
    'out of range: none',
  ])
    expect(stdout).toContain(part);
});

it('a payout is one trace over every service, from the merchant’s request to its webhook, without personal data', async () => {
  const [traceId, parentSpanId] = ['5'.repeat(32), '6'.repeat(16)];
  const request = { reference: scenario.reference('traced'), amount: '70', accountNumber: '0123459999' };
  const { transferUrl } = scenario.stack.runFile();
  const [merchant] = scenario.stack.merchants;
  await postJson(`${transferUrl}/api/v1/transactions/transfer/single`, payoutBody(request), {
    'x-api-key': Buffer.from(merchant?.publicKey ?? '').toString('base64'),
    traceparent: `00-${traceId}-${parentSpanId}-01`,
  });
  const ours = await scenario.payoutBecomes(request.reference, 'COMPLETED');
  const spans = await eventually(() => {
    const found = collector.spans.filter((span) => span.traceId === traceId);
    expect(found.map(({ service, name }) => `${service}: ${name}`)).toEqual(
      expect.arrayContaining([
        'payout-gateway: POST /api/v1/transactions/transfer/single',
        'ledger: apply pesewa.payouts.PayoutAccepted',
        'payout-gateway: apply pesewa.ledger.HoldPlaced',
        'payout-gateway: rail submit_payout',
        'ledger: apply pesewa.payouts.PayoutCompleted',
        'webhook-dispatcher: apply pesewa.payouts.PayoutCompleted',
        'webhook-dispatcher: webhook POST',
      ]),
    );
    return found;
  }, 60_000);
  const [first, ...others] = spans.toSorted(
    (one, other) => Number(other.parentSpanId === parentSpanId) - Number(one.parentSpanId === parentSpanId),
  );
  expect(first).toMatchObject({ service: 'payout-gateway', parentSpanId });
  expect(new Set(others.map((span) => span.parentSpanId))).toEqual(new Set([first?.spanId]));
  expect(spans.find(({ name }) => name === 'rail submit_payout')?.attributes).toMatchObject({
    'pesewa.rail': 'upstream',
    'pesewa.reference': ours,
  });
  // Our traces are passed neither to rails nor to merchants (ADR 38).
  expect(spans.map(({ service }) => service)).not.toContain('provider-simulator');
  expect(collector.spans.map(({ service }) => service)).toContain('provider-simulator');
  const sent = JSON.stringify(collector.spans);
  for (const secret of personalIn(parseJson(payoutBody(request)))) expect(sent).not.toContain(secret);
});

it("operators' requests and rounds that did something have traces of their own; probes and scrapes have none", async () => {
  // A hold claims its payout, and a callback its poll: rounds find a payout that its rail has turned away, and polls
  // that no callback has claimed. The first test's webhook was sent again by a round, too.
  await scenario.stack.simulator.setFaults({ callbacks: false });
  const accountNumber = '0123450015';
  const { responseData } = await scenario.demo.requestPayout({
    amount: '10',
    accountNumber,
    reference: scenario.reference('round'),
  });
  await scenario.poll([responseData?.transactionReference ?? '']);
  const told = await eventually(() => {
    const names = collector.spans.map(({ service, name }) => `${service}: ${name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        'payout-gateway: GET /payments',
        'payout-gateway: run payout submitter upstream/single',
        'reconciler: run reconciler.poll upstream',
        'webhook-dispatcher: run webhook deliverer',
      ]),
    );
    return collector.spans.filter(({ name }) => name.startsWith('run ') || name === 'GET /payments');
  }, 60_000);
  expect(told.filter(({ parentSpanId }) => parentSpanId !== undefined)).toEqual([]);
  expect(told.flatMap(({ attributes }) => attributes['pesewa.items'] ?? []).map(Number)).not.toContain(0);
  expect(collector.spans.map(({ name }) => name)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/livez|readyz|metrics|none$/)]),
  );
});

it('services have every metric that an alert or a dashboard asks for', async () => {
  const { operations } = scenario.stack.runFile();
  const texts = await Promise.all(
    serviceNames
      .filter((name) => name !== 'console')
      .map(async (name) => (await fetch(`${operations[name]}/metrics`)).text()),
  );
  const names = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? ''));
  const asked = expressionsOf(readMonitoring(root)).flatMap(({ metrics }) => metrics);
  expect(unknownMetrics(asked, new Set(['up', ...names]))).toEqual([]);
});
