/** Throws or rejects, with the reason, while the part is unhealthy. */
export type HealthCheck = () => void | Promise<void>;

/** The outcome of a round of checks: the names of failed checks, with reasons. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly failures: Readonly<Record<string, string>>;
  /** Problems that people should know about although the process can do its work, by name. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The state that a process reports: whether it can serve (readiness), and whether it should be restarted (liveness,
 * which checks no dependencies).
 */
export interface Health {
  readonly addReadiness: (name: string, check: HealthCheck) => void;
  readonly addLiveness: (name: string, check: HealthCheck) => void;
  /** Adds a message beside readiness that does not make the process unready; undefined while there is none. */
  readonly addDetail: (name: string, detail: () => string | undefined) => void;
  /** The process is ready only after `true`, and never again after `false`, when it drains. */
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
      // A process that is ended while it starts never serves.
      if (phase !== 'draining') phase = serving ? 'serving' : 'draining';
    },
    readiness: () => run(readinessChecks, details),
    liveness: () => run(livenessChecks, new Map()),
  };
}

async function run(
  checks: ReadonlyMap<string, HealthCheck>,
  detailsOf: ReadonlyMap<string, () => string | undefined>,
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
  for (const [name, detail] of detailsOf) {
    const text = detail();
    if (text !== undefined) details[name] = text;
  }
  return { healthy: Object.keys(failures).length === 0, failures, details };
}
