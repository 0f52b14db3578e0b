import { type ServiceName, serviceNames } from '@pesewa/contracts';
import { leasesOf } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { expect } from 'vitest';
import type { Scenario } from './scenario.ts';

/** How long a test waits for work that a crash has delayed. */
export const DEADLINE_MS = 90_000;

/** The partitions of a killed consumer are free after this time, and every crash of a scenario waits for that. */
const SESSION_TIMEOUT_MS = 2_000;

type Environments = Partial<Record<ServiceName, Readonly<Record<string, string>>>>;

/** Adds short consumer sessions to the environments of services that crash again and again. */
export const withShortSessions = (environments: Environments = {}): Environments =>
  Object.fromEntries(
    serviceNames.map((name) => [
      name,
      { CONSUMER_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS), ...environments[name] },
    ]),
  );

/** Ends the events about how rails do: they would pass the points of the relay among those of payments. */
export async function endAvailabilityEvents({ stack, prefix }: Scenario): Promise<void> {
  await using client = await MongoClient.connect(stack.runFile().mongodbUrl);
  const held = { owner: 'nobody', until: new Date('2100-01-01') };
  for (const name of ['payouts', 'collections'])
    await leasesOf(client.db(`${prefix}_${name}`)).updateOne(
      { _id: 'availability' },
      { $set: held },
      { upsert: true },
    );
}

/** A crash point at which a service dies. */
export interface CrashAt {
  readonly service: ServiceName;
  readonly point: string;
  /** The pass at which the process dies; the first by default. */
  readonly pass?: number;
  /** The process dies only where the point is passed with a content that has this text. */
  readonly text?: string;
  /** Further variables of the process that will crash; it is restarted with them. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The two moments of a crash: a scenario is played between them. */
export interface Crash {
  /** Arms the crash point in the running process. */
  readonly arm: () => Promise<void>;
  /** Resolves once the service has died at the point, as its log must show. */
  readonly death: () => Promise<void>;
}

/** One row for each crash point; a point may come with the pass at which the process dies. */
export function rowsAt<Rest extends object>(
  service: ServiceName,
  points: readonly (string | readonly [string, number])[],
  rest: Rest,
): readonly (CrashAt & Rest)[] {
  return points.map((point) =>
    typeof point === 'string'
      ? { service, point, ...rest }
      : { service, point: point[0], pass: point[1], ...rest },
  );
}

/**
 * Runs sequences side by side and a sequence's rows one after another; no service may be in two sequences. Returns a
 * function that gives a row's result.
 *
 * That function throws if the row's scenario failed; the other rows are not affected.
 */
export async function runSequences<Row extends CrashAt, Survivors>(
  scenario: Scenario,
  sequences: readonly (readonly Row[])[],
  run: (row: Row, crash: Crash) => Promise<Survivors>,
): Promise<(row: Row) => Survivors> {
  const outcomes = new Map<Row, PromiseSettledResult<Survivors>>();
  const runSequence = async (sequence: readonly Row[]) => {
    for (const row of sequence) {
      const [outcome] = await Promise.allSettled([run(row, crashOf(scenario, row))]);
      outcomes.set(row, outcome);
    }
  };
  await Promise.all(sequences.map(runSequence));
  return (row) => {
    const outcome = outcomes.get(row);
    if (outcome?.status !== 'fulfilled') throw outcome?.reason;
    return outcome.value;
  };
}

function crashOf(scenario: Scenario, { service, point, pass = 1, text, environment }: CrashAt): Crash {
  const kept = scenario.stack.service(service);
  const times = () => scenario.logLines(service, `crash point ${point}`);
  let before = 0;
  return {
    arm: async () => {
      before = await times();
      if (environment !== undefined) await kept.restart(environment);
      await kept.ready();
      await scenario.arm(service, `${point}:${pass}${text === undefined ? '' : `:kill:${text}`}`);
    },
    death: async () => {
      await eventually(async () => expect(await times()).toBe(before + 1), DEADLINE_MS);
    },
  };
}

/** The webhook bodies that the merchant received; repetitions have the same id and bytes and count once. */
export async function bodiesSentOnce(scenario: Scenario, reference: string): Promise<readonly string[]> {
  const received = await scenario.stack.simulator.received(scenario.merchantId, reference);
  const bodies = new Map<unknown, string>();
  for (const { headers, body } of received) {
    const id = headers['webhook-id'];
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
  return [...bodies.values()];
}
