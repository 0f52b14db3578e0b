import type { ServiceName } from '@pesewa/contracts';
import { type Clock, systemClock } from '@pesewa/kernel';
import type { Stack } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import type { Fault, Target } from './plan/faults.ts';

/** A process that faults may hit. */
export interface Victim extends Target {
  readonly kept: ReturnType<Stack['service']>;
}

/** A kill as it really happened. */
export interface Strike {
  readonly service: ServiceName;
  /** The killed process, and its successor. */
  readonly before: number;
  readonly after: number;
}

/** Causes faults as planned, and repairs them all. */
export interface Breaker {
  /** Resolves once the last fault is over. */
  readonly run: (faults: readonly Fault[]) => Promise<void>;
  /** Repairs what is still broken, and resolves once every service is ready; gives the kills. */
  readonly heal: () => Promise<readonly Strike[]>;
}

/** How long a killed service may take to have a process again. */
const RESTART_MS = 40_000;
/** How long all of them may take to be ready again, if the machine is busy. */
const HEAL_MS = 90_000;

/** Builds a {@link Breaker}; `log` gets one line for each fault as it really happens. */
export function createBreaker(deps: {
  readonly stack: Stack;
  readonly victims: readonly Victim[];
  readonly log: (line: string) => void;
  readonly clock?: Clock;
}): Breaker {
  const { stack, victims, log, clock = systemClock } = deps;
  const startedAtMs = clock.nowMs();
  const aim = createAim(victims);
  const faults = stack.simulator.setFaults;

  const inject = async (fault: Fault): Promise<() => Promise<void>> => {
    switch (fault.kind) {
      case 'kill':
        await aim.kill(fault.target);
        return () => Promise.resolve();
      case 'pause':
        return aim.pause(fault.target);
      case 'outage':
        await faults({ outage: true });
        return () => faults({ outage: null });
      case 'latency':
        await faults({ latencyMs: fault.latencyMs ?? 0 });
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
    run: async (planned) => {
      await Promise.all(
        planned.map(async (fault) => {
          await clock.sleep(Math.max(0, startedAtMs + fault.atMs - clock.nowMs()));
          const fix = await inject(fault);
          log(`${clock.nowMs() - startedAtMs} ms ${JSON.stringify(fault)}`);
          await clock.sleep(fault.durationMs);
          await fix();
        }),
      );
    },
    heal: async () => {
      await faults({ outage: null, latencyMs: null, callbacks: null, merchantEndpoint: null });
      await Promise.all(victims.map(({ kept }) => eventually(kept.ready, HEAL_MS)));
      return aim.strikes();
    },
  };
}

/** Hits processes: always a living one, so that planned faults really happen. */
function createAim(victims: readonly Victim[]) {
  const gone = new Set<number>();
  const killed: { readonly victim: Victim; readonly before: number }[] = [];

  const find = (target: Target | undefined): Victim => {
    const victim = victims.find(
      ({ service, isSecond }) => service === target?.service && isSecond === target.isSecond,
    );
    if (!victim) throw new RangeError(`nothing to strike at: ${JSON.stringify(target)}`);
    return victim;
  };

  /** Sends a signal to the living process of a victim; one that is being started again is waited for. */
  const strike = (victim: Victim, signal: 'SIGKILL' | 'SIGSTOP'): Promise<number> =>
    eventually(() => {
      const pid = victim.kept.pid();
      if (gone.has(pid)) throw new Error(`${victim.service} is not back yet`);
      process.kill(pid, signal);
      if (signal === 'SIGKILL') gone.add(pid);
      return pid;
    }, RESTART_MS);

  return {
    kill: async (target: Target | undefined): Promise<void> => {
      const victim = find(target);
      killed.push({ victim, before: await strike(victim, 'SIGKILL') });
    },
    pause: async (target: Target | undefined): Promise<() => Promise<void>> => {
      const pid = await strike(find(target), 'SIGSTOP');
      return () => {
        // A kill may have come in between.
        if (!gone.has(pid)) process.kill(pid, 'SIGCONT');
        return Promise.resolve();
      };
    },
    strikes: (): readonly Strike[] =>
      killed.map(({ victim, before }) => ({ service: victim.service, before, after: victim.kept.pid() })),
  };
}
