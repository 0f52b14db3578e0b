import { type ServiceName, serviceNames } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import type { Scenario } from './scenario.ts';

/** How long a test waits for what a crash has delayed. */
export const DEADLINE_MS = 90_000;

/** A killed consumer's partitions are free after this long, and every crash of a scenario waits for that. */
const SESSION_TIMEOUT_MS = 2_000;

type Environments = Partial<Record<ServiceName, Readonly<Record<string, string>>>>;

/** The environments of services of which one dies again and again. */
export const withShortSessions = (environments: Environments = {}): Environments =>
  Object.fromEntries(
    serviceNames.map((name) => [
      name,
      { CONSUMER_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS), ...environments[name] },
    ]),
  );

/** A named line at which a service dies. */
export interface CrashAt {
  readonly service: ServiceName;
  readonly point: string;
  /** Dies at the n-th pass; the first where it isn't said. */
  readonly pass?: number;
  /** Further variables of the process that is to die, which is started anew with them. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The two moments of a crash that a scenario is played around. */
export interface Crash {
  /** Arms the point in the running process. */
  readonly arm: () => Promise<void>;
  /** Resolves once the service has died right there, and says so in its log. */
  readonly death: () => Promise<void>;
}

/** One row for each point, a point with the pass at which it strikes where that isn't the first. */
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
 * Runs sequences side by side, a sequence's rows one after another, no service in two of them; gives what to ask about a row.
 *
 * A row whose scenario broke throws when it is asked about, and the others go on.
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

function crashOf(scenario: Scenario, { service, point, pass = 1, environment }: CrashAt): Crash {
  const kept = scenario.stack.service(service);
  const times = () => scenario.logLines(service, `crash point ${point}`);
  let before = 0;
  return {
    arm: async () => {
      before = await times();
      if (environment !== undefined) await kept.restart(environment);
      await kept.ready();
      await scenario.arm(service, point, pass);
    },
    death: async () => {
      await eventually(async () => expect(await times()).toBe(before + 1), DEADLINE_MS);
    },
  };
}

/** What the merchant was told: a repeat has the same webhook-id and the same bytes, and counts once (contract 6.3). */
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
