import type { HistoricalEvent } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock, eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { requireCurrentDatabase } from './older-database.ts';
import { type RecoveryDeps, recoverPayouts } from './recovery.ts';
import type { Payout } from './store.ts';

const logger = createLogger({ name: 'test', level: 'silent' });

const envelope = (reference: string, version: bigint) => ({
  eventId: `ev-${reference}`,
  version,
  key: 'demo:KES',
  causationId: '',
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
});

const payment = (reference: string, merchantReference: string) => ({
  eventId: `ev-${reference}`,
  occurredAt: 1_000n,
  reference,
  merchantReference,
  merchantId: 'demo',
  currency: 'KES',
  rail: 'upstream',
  amount: 10_000n,
  fee: 100n,
});

const acceptedEvent = (reference: string, merchantReference: string): HistoricalEvent<'payouts'> => ({
  ...envelope(reference, 1n),
  type: 'pesewa.payouts.PayoutAccepted',
  payload: {
    ...payment(reference, merchantReference),
    country: 'KEN',
    channel: 'Mobile Money',
    bankCode: 'MPESA',
    batchReference: null,
    contentCheck: 'q3Z',
  },
});

const failedEvent = (reference: string): HistoricalEvent<'payouts'> => ({
  ...envelope(reference, 2n),
  type: 'pesewa.payouts.PayoutFailed',
  payload: { ...payment(reference, 'inv-2'), statusReason: 'No account' },
});

/** A database with the versions of some payouts, and a topic with events. */
function world(options: {
  readonly topic: readonly HistoricalEvent<'payouts'>[];
  readonly records?: Readonly<Record<string, bigint>>;
  readonly newestMs?: number;
  /** How often Kafka is away. */
  readonly fails?: { kafka: number };
  readonly isInUse?: boolean;
  /** What does not fit of its positions. */
  readonly mismatch?: string;
  readonly passesGaps?: boolean;
}) {
  const versions = new Map(Object.entries(options.records ?? {}));
  const fails = options.fails ?? { kafka: 0 };
  const seen = { since: new Set<number>(), marks: 0, doubted: 0, lines: [] as string[], looks: 0, begun: 0 };
  const leftOut = new Set<string>();
  const back: Payout[] = [];
  const { mismatch, passesGaps = false, newestMs = Date.now() } = options;
  const position = { kind: 'stopped', mismatch, reason: 'our database is at 5' };
  const deps = {
    messaging: {
      since: async function* (_topic: string, partition: number, timeMs: number) {
        seen.since.add(timeMs);
        if (partition === 3) yield options.topic;
      },
      inTransaction: async (work: (transaction: object) => Promise<unknown>) => work({ session: {} }),
      positions: {
        list: async () => {
          seen.looks += 1;
          if (fails.kafka-- > 0) throw new Error('Kafka is away');
          return mismatch ? [{ id: 'payout-gateway/t/0', position }] : [];
        },
      },
    },
    store: {
      newestAcceptedMs: async () => newestMs,
      findVersions: async () => versions,
      findByReferences: async (references: readonly string[]) =>
        references.flatMap((reference) => {
          const version = versions.get(reference);
          return version ? [{ reference, version, status: 'INITIALIZED', timeline: [] }] : [];
        }),
      findUsedIds: async () => new Set(back.map(({ order }) => `demo:${order.merchantReference}`)),
      insert: async (payouts: readonly Payout[]) => {
        for (const payout of payouts) versions.set(payout.reference, payout.version);
        back.push(...payouts);
      },
      save: async (changes: readonly { readonly after: Payout }[]) => {
        for (const { after } of changes) versions.set(after.reference, after.version);
      },
      collection: {
        updateMany: async () => ({ modifiedCount: (seen.doubted += 1) }),
        countDocuments: async () => 5,
      },
    },
    marks: {
      findLeftOut: async () => leftOut,
      leaveOut: async (reference: string) => void leftOut.add(reference),
      untilMajorityIsKnown: async () => undefined,
      setCurrent: async () => void (seen.marks += 1),
      isCurrentSince: async () => options.isInUse ?? false,
    },
    report: (line: string) => void seen.lines.push(line),
    begin: async () => void (seen.begun += 1),
    isDryRun: false,
    passesGaps,
    clock: createAutoAdvancingClock(),
    logger,
  };
  const given = deps as unknown as RecoveryDeps & Parameters<typeof requireCurrentDatabase>[0];
  return { given, seen, back, versions, leftOut, fails };
}

const topic = [acceptedEvent('po-1', 'inv-1'), acceptedEvent('po-2', 'inv-2'), failedEvent('po-2')];

it('starts where the database has all that was published, and says so as long as it runs', async () => {
  const { given, seen } = world({ topic, records: { 'po-1': 3n, 'po-2': 2n }, newestMs: 100_000 });
  await using _mark = await requireCurrentDatabase(given);
  await eventually(() => expect(seen.marks).toBeGreaterThan(2));
  expect(seen.since).toEqual(new Set([70_000]));
});

it.each([
  ['a payout that it has forgotten', { topic, records: { 'po-2': 2n } }, 'it lacks version 1 of po-1'],
  ['an end that it has forgotten', { topic, records: { 'po-1': 1n, 'po-2': 1n } }, 'version 2 of po-2'],
  ['a position of before', { topic: [], mismatch: 'restored' }, 'our database is at 5'],
  ['no position any more', { topic: [], mismatch: 'lost', isInUse: true }, 'our database is at 5'],
  ['topics that did not come with it', { topic: [], mismatch: 'recreated' }, 'our database is at 5'],
])('does not start over %s, and names the repair', async (_name, options, reason) => {
  const { given, seen } = world(options);
  const starting = requireCurrentDatabase(given);
  await expect(starting).rejects.toThrow(reason);
  await expect(starting).rejects.toThrow('run its program once with the argument recover');
  expect(seen.marks).toBe(0);
});

it.each([
  ['topics that were lost while it was in use', { mismatch: 'recreated', isInUse: true }],
  ['messages that were removed meanwhile', { mismatch: 'messages removed' }],
])('starts over %s', async (_name, options) => {
  const { given, seen } = world({ topic: [], ...options });
  await using _mark = await requireCurrentDatabase(given);
  await eventually(() => expect(seen.marks).toBeGreaterThan(0));
});

it('waits for Kafka, except in a database that was current a moment ago', async () => {
  const away = world({ topic: [], fails: { kafka: 20 } });
  await using _later = await requireCurrentDatabase(away.given);
  expect(away.seen.looks).toBe(21);
  const inUse = world({ topic, fails: { kafka: 1_000_000 }, isInUse: true });
  await using _atOnce = await requireCurrentDatabase(inUse.given);
  expect(inUse.seen.looks).toBe(1);
});

it('brings back what was forgotten, brings forward what is older, and then starts', async () => {
  const unknown = acceptedEvent('po-3', 'inv-3');
  const known = world({ topic: [...topic, unknown, ...topic], records: { 'po-2': 1n } });
  await recoverPayouts(known.given);
  expect(known.back.map(({ reference }) => reference)).toEqual(['po-1', 'po-3']);
  expect(known.back[0]).toMatchObject({ recipientKnown: false, step: 'awaitingHold' });
  expect(known.versions.get('po-2')).toBe(2n);
  expect(known.seen.doubted).toBe(2);
  await using _mark = await requireCurrentDatabase(known.given);
});

it('only counts in a dry run', async () => {
  const { given, seen, back } = world({ topic });
  await recoverPayouts({ ...given, isDryRun: true });
  expect(seen.lines).toEqual([
    'events of 2 payouts are lacking',
    'the rails are asked about 5 payouts before any of them is sent',
  ]);
  expect([back.length, seen.doubted, seen.begun]).toEqual([0, 0, 0]);
});

it('doubts payouts also if no event is lacking: those of payouts sent since may never have been published', async () => {
  const { given, seen } = world({ topic, records: { 'po-1': 1n, 'po-2': 2n } });
  await recoverPayouts(given);
  expect(seen).toMatchObject({ begun: 1, doubted: 2 });
});

it('goes on where it died halfway, and then doubts what may have been sent', async () => {
  const { given, seen, back } = world({ topic });
  const { inTransaction } = given.messaging;
  const dies = async (work: Parameters<typeof inTransaction>[0]) => {
    await inTransaction(work);
    throw new Error('died');
  };
  await expect(
    recoverPayouts({ ...given, messaging: { ...given.messaging, inTransaction: dies } }),
  ).rejects.toThrow('died');
  expect([back.length, seen.doubted]).toEqual([2, 0]);
  await recoverPayouts(given);
  expect([back.length, seen.doubted]).toEqual([2, 2]);
});

it.each([
  ['a backup from before what the topic keeps', Date.now() - 15 * 86_400_000],
  ['an empty database', 0],
])('refuses %s, unless it passes gaps', async (_name, newestMs) => {
  const { given, seen } = world({ topic, newestMs });
  await expect(recoverPayouts(given)).rejects.toThrow('may be forgotten for good');
  expect(seen).toMatchObject({ begun: 0, doubted: 0 });
  await recoverPayouts({ ...given, passesGaps: true });
  expect(seen.doubted).toBe(2);
});

it('brings a payout back whose end was published before its acceptance', async () => {
  const { given, back } = world({ topic: [failedEvent('po-2'), acceptedEvent('po-2', 'inv-2')] });
  await recoverPayouts(given);
  expect(back).toMatchObject([{ reference: 'po-2', status: 'FAILED', version: 2n }]);
});

it('reports what it can’t bring back, once: the service starts without it', async () => {
  const twice = acceptedEvent('po-4', 'inv-1');
  const { given, seen, back, leftOut } = world({ topic: [failedEvent('po-9'), ...topic, twice] });
  await expect(recoverPayouts(given)).rejects.toThrow('the acceptances of 1 payouts are no longer');
  expect(seen.doubted).toBe(0);
  expect(leftOut).not.toContain('po-9');
  await recoverPayouts({ ...given, passesGaps: true });
  expect(back.map(({ reference }) => reference)).toEqual(['po-1', 'po-2']);
  expect(leftOut).toEqual(new Set(['po-4', 'po-9']));
  expect(seen.lines).toContainEqual(
    expect.stringContaining('po-4 has no record and is left out: another one'),
  );
  await using _mark = await requireCurrentDatabase(given);
});
