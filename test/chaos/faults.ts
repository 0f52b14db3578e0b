import type { Clock } from '@pesewa/kernel';
import type { Stack } from '@pesewa/stack';
import type { Fault } from './faults-plan.ts';

/** Breaks things as planned, and mends them all. */
export interface Breaker {
  /** Resolves once the last fault is over. */
  readonly run: (faults: readonly Fault[]) => Promise<void>;
  /** Mends whatever is still broken, and resolves once every service is ready. */
  readonly heal: () => Promise<void>;
}

/** Builds a {@link Breaker}; `log` gets one line for each fault as it really happens. */
export function createBreaker(deps: {
  readonly stack: Stack;
  readonly services: readonly ReturnType<Stack['service']>[];
  readonly clock: Clock;
  readonly log: (line: string) => void;
}): Breaker {
  const { stack, services, clock, log } = deps;
  const startedAtMs = clock.nowMs();
  const paused = new Set<number>();

  const signal = (pid: number, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It died by another fault, and is being started again.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  };

  const inject = async (fault: Fault): Promise<() => Promise<void>> => {
    const { kind, target, latencyMs } = fault;
    const pid = services.find(({ name }) => name === target)?.pid() ?? 0;
    const faults = stack.simulator.setFaults;
    switch (kind) {
      case 'kill':
        if (pid > 0) signal(pid, 'SIGKILL');
        return () => Promise.resolve();
      case 'pause':
        if (pid > 0) signal(pid, 'SIGSTOP');
        paused.add(pid);
        return () => {
          if (pid > 0) signal(pid, 'SIGCONT');
          paused.delete(pid);
          return Promise.resolve();
        };
      case 'outage':
        await faults({ outage: true });
        return () => faults({ outage: null });
      case 'latency':
        await faults({ latencyMs: latencyMs ?? 0 });
        return () => faults({ latencyMs: null });
      case 'callbacks':
        await faults({ callbacks: false });
        return () => faults({ callbacks: null });
      case 'merchant':
        await faults({ merchantEndpoint: { status: 500, times: 1_000_000 } });
        return () => faults({ merchantEndpoint: null });
    }
  };

  return {
    run: async (faults) => {
      await Promise.all(
        faults.map(async (fault) => {
          await clock.sleep(Math.max(0, startedAtMs + fault.atMs - clock.nowMs()));
          log(`${clock.nowMs() - startedAtMs} ms ${JSON.stringify(fault)}`);
          const mend = await inject(fault);
          await clock.sleep(fault.durationMs);
          await mend();
        }),
      );
    },
    heal: async () => {
      for (const pid of paused) signal(pid, 'SIGCONT');
      await stack.simulator.setFaults({
        outage: null,
        latencyMs: null,
        callbacks: null,
        merchantEndpoint: null,
      });
      await Promise.all(services.map((service) => service.ready()));
    },
  };
}
