/** Throws, or rejects, with the reason while the part is not healthy. */
export type HealthCheck = () => void | Promise<void>;

/** The outcome of a round of checks: names of what failed, with the reason. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly failures: Readonly<Record<string, string>>;
  /** What people should know though the process can do its work: by name, what is wrong. */
  readonly details: Readonly<Record<string, string>>;
}

/** What a process says of itself: able to serve (readiness), and worth keeping (liveness, without dependencies). */
export interface Health {
  readonly addReadiness: (name: string, check: HealthCheck) => void;
  readonly addLiveness: (name: string, check: HealthCheck) => void;
  /** Something to tell beside readiness that takes nothing out of rotation; undefined while there is nothing. */
  readonly addDetail: (name: string, detail: () => string | undefined) => void;
  /** A process is not ready until it serves (true), nor from when it ends on (false): it is draining then. */
  readonly setServing: (serving: boolean) => void;
  readonly readiness: () => Promise<HealthReport>;
  readonly liveness: () => Promise<HealthReport>;
}

/** Collects the health checks of one process. */
export function createHealth(): Health {
  const readinessChecks = new Map<string, HealthCheck>();
  const livenessChecks = new Map<string, HealthCheck>();
  const details = new Map<string, () => string | undefined>();
  let phase: 'starting' | 'serving' | 'draining' = 'starting';
  readinessChecks.set('serving', () => {
    if (phase !== 'serving') throw new Error(phase);
  });
  return {
    addReadiness: (name, check) => void readinessChecks.set(name, check),
    addLiveness: (name, check) => void livenessChecks.set(name, check),
    addDetail: (name, detail) => void details.set(name, detail),
    setServing: (serving) => {
      // A process that is to end while it starts never serves.
      if (phase !== 'draining') phase = serving ? 'serving' : 'draining';
    },
    readiness: () => run(readinessChecks, details),
    liveness: () => run(livenessChecks, new Map()),
  };
}

async function run(
  checks: ReadonlyMap<string, HealthCheck>,
  told: ReadonlyMap<string, () => string | undefined>,
): Promise<HealthReport> {
  const failures: Record<string, string> = {};
  await Promise.all(
    [...checks].map(async ([name, check]) => {
      try {
        await check();
      } catch (error) {
        failures[name] = error instanceof Error ? error.message : 'failed';
      }
    }),
  );
  const details: Record<string, string> = {};
  for (const [name, detail] of told) {
    const text = detail();
    if (text !== undefined) details[name] = text;
  }
  return { healthy: Object.keys(failures).length === 0, failures, details };
}
