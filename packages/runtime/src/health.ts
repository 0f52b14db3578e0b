/** Throws, or rejects, with the reason while the part is not healthy. */
export type HealthCheck = () => void | Promise<void>;

/** The outcome of a round of checks: names of what failed, with the reason. */
export interface HealthReport {
  readonly healthy: boolean;
  readonly failures: Readonly<Record<string, string>>;
}

/** What a process says of itself: able to serve (readiness), and worth keeping (liveness, without dependencies). */
export interface Health {
  readonly addReadiness: (name: string, check: HealthCheck) => void;
  readonly addLiveness: (name: string, check: HealthCheck) => void;
  /** Until it is started, and once it is draining, a process is not ready. */
  readonly setServing: (serving: boolean) => void;
  readonly readiness: () => Promise<HealthReport>;
  readonly liveness: () => Promise<HealthReport>;
}

/** Collects the health checks of one process. */
export function createHealth(): Health {
  const readinessChecks = new Map<string, HealthCheck>();
  const livenessChecks = new Map<string, HealthCheck>();
  let serving = false;
  readinessChecks.set('serving', () => {
    if (!serving) throw new Error('starting or draining');
  });
  return {
    addReadiness: (name, check) => void readinessChecks.set(name, check),
    addLiveness: (name, check) => void livenessChecks.set(name, check),
    setServing: (value) => {
      serving = value;
    },
    readiness: () => run(readinessChecks),
    liveness: () => run(livenessChecks),
  };
}

async function run(checks: ReadonlyMap<string, HealthCheck>): Promise<HealthReport> {
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
  return { healthy: Object.keys(failures).length === 0, failures };
}
