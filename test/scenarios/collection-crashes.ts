import { collectionWebhook, parseJson } from '@pesewa/contracts';
import { type CollectionRequest, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CollectingMerchant, createCollectingMerchant } from './collecting-merchant.ts';
import { completedCallback } from './collection-callback.ts';
import { describeAftermath } from './crash-aftermath.ts';
import type { CollectionCrashRow, CollectionScenario } from './crash-rows-collections.ts';
import {
  bodiesSentOnce,
  type Crash,
  DEADLINE_MS,
  endAvailabilityEvents,
  runSequences,
  withShortSessions,
} from './crash-runner.ts';
import { openScenario, type Scenario } from './scenario.ts';

/** How long merchants, rails and operators retry: the service that they call may crash again and again. */
const CLIENT_DEADLINE_MS = 180_000;

/** The fields of a collection's record that the test reads directly from the database. */
interface Recorded {
  readonly _id: string;
  readonly reference: string;
  readonly step: string;
  readonly completionAttempts: number;
}

const closers = new AsyncDisposableStack();
let scenario: Scenario;
let records: Collection<Recorded>;
let outbox: Collection;
let merchant: CollectingMerchant;

interface Survivors {
  readonly requests: readonly CollectionRequest[];
  /** Resolves once the merchant's part is done; it must succeed in the end. */
  readonly done: Promise<unknown>;
}

/** The merchants' part of every row, including rows whose process is long up again. */
const atWork: Promise<unknown>[] = [];
const survivors = new Map<CollectionCrashRow, () => Survivors>();

/**
 * Tests rows of the crash matrix of collections on a stack of their own, in consecutive acts whose sequences run side by
 * side. A file can do so once.
 */
export function describeCollectionCrashes(
  name: string,
  acts: readonly (readonly (readonly CollectionCrashRow[])[])[],
): void {
  const rows = acts.flat(2);

  beforeAll(async () => {
    await open(name);
    for (const sequences of acts) {
      const survivorsBy = await runSequences(scenario, sequences, (row, crash) =>
        runScenario(row, rows.indexOf(row), crash),
      );
      for (const row of sequences.flat()) survivors.set(row, () => survivorsBy(row));
      // An act begins once the one before it is over; the tests below report how it ended.
      for (const row of sequences.flat()) await expectScenarios(row).catch(() => undefined);
    }
  }, 1_800_000);

  afterAll(async () => {
    await closers.disposeAsync();
  });

  describe('killed at a named point and started again: no collection lost, none twice (P1, P4, P10, X1, L7, L11, W1)', () => {
    it.each(rows.map((row) => [titleOf(row), row] as const))(
      '%s',
      (_title, row) => expectScenarios(row),
      300_000,
    );

    it('what a merchant knew of was never denied (P9)', () => {
      expect(merchant.denied()).toEqual([]);
    });
  });

  const played = rows.flatMap(({ collections }) => collections);

  describeAftermath({
    scenario: () => scenario,
    databases: ['collections', 'ledger', 'ingress', 'reconciler', 'webhooks'],
    breaks: played.flatMap(({ breaks }) => breaks.filter((kind) => !kind.endsWith('(resolved)'))),
  });
}

async function open(name: string): Promise<void> {
  const environment = {
    // Rows wait for each other, so grace times and leases are as short as they may be.
    'collection-gateway': { RESUBMIT_GRACE_MS: '6000' },
    reconciler: {
      FIRST_POLL_AFTER_MS: '800',
      POLL_CAP_MS: '2000',
      // Services that crash again and again finalise nothing meanwhile; no break may open because of that.
      NOT_FOUND_GRACE_MS: '120000',
      POLLS_BEFORE_BREAK: '1000',
    },
    'webhook-dispatcher': { DELIVERY_DEADLINE_MS: '1000' },
  };
  scenario = await openScenario(name, withShortSessions(environment), { timeoutMs: 2_000 });
  closers.use(scenario);
  await endAvailabilityEvents(scenario);
  const client = closers.use(await MongoClient.connect(scenario.stack.runFile().mongodbUrl));
  const database = client.db(`${scenario.prefix}_collections`);
  records = database.collection<Recorded>('collections');
  outbox = database.collection('outbox');
  merchant = createCollectingMerchant(scenario.demo, CLIENT_DEADLINE_MS);
}

function requestsOf(row: CollectionCrashRow, place: number): readonly CollectionRequest[] {
  return row.collections.map(({ flow, digits }, index) => ({
    ...flow.order,
    reference: scenario.reference(`${place}.${row.point}.${index}`),
    // Each collection has its own number, so that no limit per number applies.
    customerNumber: `${flow.dialling}${String(place * 100 + index).padStart(5, '0')}${digits}`,
  }));
}

/** Makes the collections with the crash point armed, waits for the crash, and records what the process left. */
async function runScenario(
  row: CollectionCrashRow,
  place: number,
  { arm, death }: Crash,
): Promise<Survivors> {
  using held = new DisposableStack();
  if (row.leaves !== undefined) {
    await everyoneElseHasEnded(row);
    // What it leaves is read before its successor goes on.
    held.use(scenario.stack.service(row.service).holdStart());
  }
  const requests = requestsOf(row, place);
  const initiate = () => Promise.all(requests.map(merchant.initiate));
  if (row.armed === 'completion') await initiate();
  // The initiations' outbox records pass the point too, a little after their answers.
  if (row.armed === 'completion' && isOfRelay(row)) await outboxIsEmpty();
  await arm();
  const done = (async () => {
    if (row.armed === 'initiation') await initiate();
    await Promise.all(requests.map((request, index) => finish(request, row.collections[index])));
  })();
  // The next row starts meanwhile; an error is reported by this row's own test.
  atWork.push(done.catch(() => undefined));
  await death();
  await expectLeft(row, requests);
  held.dispose();
  if (row.unhurried) await done;
  return { requests, done };
}

/** Resolves once the collections of all earlier rows have ended, so that none of them passes this row's crash point. */
async function everyoneElseHasEnded(row: CollectionCrashRow): Promise<void> {
  await Promise.all(atWork);
  const pending = () => records.countDocuments({ step: { $ne: 'ended' } });
  await eventually(async () => expect(await pending()).toBe(0), CLIENT_DEADLINE_MS);
  // Outbox records that a crash left behind pass the point too, when the sweeper sends them.
  if (isOfRelay(row)) await outboxIsEmpty();
}

const isOfRelay = ({ point }: CollectionCrashRow) => point.startsWith('relay.');

async function outboxIsEmpty(): Promise<void> {
  const unsent = () => outbox.countDocuments();
  await eventually(async () => expect(await unsent()).toBe(0), CLIENT_DEADLINE_MS);
}

/** Plays the merchant's part after the initiation, and the part of strangers and operators if the row has one. */
async function finish(
  request: CollectionRequest,
  collectionScenario: CollectionScenario | undefined,
): Promise<void> {
  if (collectionScenario?.flow.completion)
    await merchant.complete(request, collectionScenario.flow.completion.otpCode);
  if (collectionScenario?.callback === 'forged')
    await callBack(request, (await recorded(request))?.reference ?? '');
  if (collectionScenario?.decided !== undefined) await decideAmount(request, collectionScenario.decided);
}

/** Proposes and approves the amount once the break is open; a broken request is repeated under its id. */
async function decideAmount(request: CollectionRequest, amount: string): Promise<void> {
  const reference = (await recorded(request))?.reference ?? '';
  const seen = () => scenario.stack.operator.breaks(reference);
  await eventually(async () => expect(await seen()).toHaveLength(1), CLIENT_DEADLINE_MS);
  const { operations, operatorToken, approverToken } = scenario.stack.runFile();
  const url = `${operations['reconciler']}/decisions`;
  const commandId = `decide-${request.reference}`;
  const order = (path: string, token: string, body: object) =>
    eventually(async () => {
      const answer = await postJson(path, JSON.stringify(body), { authorization: `Bearer ${token}` });
      expect(answer.status, answer.text).toBeLessThan(300);
    }, CLIENT_DEADLINE_MS);
  await order(url, operatorToken, { commandId, reference, amount });
  await order(`${url}/${commandId}/approve`, approverToken, {});
}

function recorded(request: CollectionRequest): Promise<Recorded | null> {
  return records.findOne({ _id: `${scenario.merchantId}:${request.reference}` });
}

async function expectLeft(
  { leaves }: CollectionCrashRow,
  requests: readonly CollectionRequest[],
): Promise<void> {
  if (leaves === undefined) return;
  const left = (await Promise.all(requests.map(recorded))).flatMap((record) => record ?? []);
  const seen = left.map(({ step, completionAttempts }) => ({ step, tries: completionAttempts }));
  if (leaves === 'nothing') expect(seen).toEqual([]);
  else
    expect(seen).toContainEqual({ step: expect.toBeOneOf([...leaves.steps]) as string, tries: leaves.tries });
}

/** Sends a callback that claims an end, and repeats it until it is accepted, as a rail would. */
async function callBack(request: CollectionRequest, reference: string): Promise<void> {
  const body = completedCallback(request, reference);
  const url = `${scenario.stack.runFile().ingressUrl}/rails/upstream/collections`;
  await eventually(async () => expect((await postJson(url, body)).status).toBe(200), CLIENT_DEADLINE_MS);
}

type End = Omit<CollectionScenario, 'flow' | 'digits' | 'callback' | 'decided'>;

async function expectScenarios(row: CollectionCrashRow): Promise<void> {
  const survivorsOf = survivors.get(row);
  if (!survivorsOf) throw new Error('the run did not reach this row');
  const { requests, done } = survivorsOf();
  await done;
  await Promise.all(
    requests.map((request, index) => expectScenario(request, row.collections[index] as CollectionScenario)),
  );
}

async function expectScenario(
  request: CollectionRequest,
  collectionScenario: CollectionScenario,
): Promise<void> {
  const { flow: _flow, digits: _digits, callback: _callback, decided: _decided, ...end } = collectionScenario;
  const asExpected = async () => expect(await lookAt(request)).toEqual(end);
  // The second comparison shows the difference if the wait has failed.
  await eventually(asExpected, DEADLINE_MS).catch(() => undefined);
  await asExpected();
}

const statuses: Readonly<Record<string, End['status']>> = {
  '00': 'COMPLETED',
  '06': 'FAILED',
  '09': 'PENDING',
};

/** The collection as the merchant, the ledger, the rail and the operators see it. */
async function lookAt(request: CollectionRequest): Promise<Partial<End>> {
  const ours = (await recorded(request))?.reference ?? '';
  const { stack } = scenario;
  const [code, codeByOurs] = await Promise.all(
    [request, { ...request, reference: ours }].map((asked) => merchant.check(asked)),
  );
  expect(codeByOurs).toBe(code);
  const journal = await stack.simulator.journal(ours);
  const taken = (operation: string) =>
    journal.filter((entry) => entry.operation === operation && entry.outcome === 'accepted').length;
  const status = statuses[code ?? ''];
  return {
    ...(status && { status }),
    entries: await scenario.entryKinds(ours),
    executions: await scenario.executions(ours),
    payins: taken('payin'),
    completions: taken('complete'),
    webhooks: (await bodiesSentOnce(scenario, request.reference)).map(
      (body) => collectionWebhook.parse(parseJson(body)).status,
    ),
    breaks: (await stack.operator.breaks(ours)).map(({ kind, status: state }) =>
      state === 'open' ? String(kind) : `${String(kind)} (${String(state)})`,
    ),
  };
}

function titleOf({ service, point, pass = 1, armed }: CollectionCrashRow): string {
  const meanwhile = armed === 'initiation' ? 'initiated' : 'completed';
  return `${service} at ${point}, pass ${pass}, while collections are ${meanwhile}`;
}
