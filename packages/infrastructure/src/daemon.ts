import type { Child } from './children.ts';
import { waitForDaemon } from './wait.ts';

/** Where a local daemon keeps its data, and for how long. */
export interface DaemonHome {
  readonly dataDirectory: string;
  /** True if the data is deleted after the run, so that nothing needs a gentle end. */
  readonly fresh: boolean;
}

/** One process of a daemon, which a test may break and restart. */
export interface Node {
  /** As in `Kafka 2`, or `Kafka` if there is only one. */
  readonly name: string;
  /** Its address as `host:port`, the same after every start. */
  readonly address: string;
  /** The id of its present process, or of the last one. */
  pid(): number;
  /** Kills it by SIGKILL, even if it is paused; resolves once it has ended. */
  kill(): Promise<void>;
  /** Ends it by SIGTERM; resolves once it has ended. */
  stop(): Promise<void>;
  /** Pauses it by SIGSTOP: connections stay open, and nothing answers. */
  pause(): void;
  /** Ends the pause. */
  resume(): void;
  /** Starts it again on its data and its address; resolves once it is ready. */
  start(): Promise<void>;
  /** Resolves once it has its role in the cluster: a broker as leader or follower, a member as primary or secondary. */
  ready(): Promise<void>;
}

/** The processes behind one address: one, or several that replicate the data. */
export interface Daemon {
  /** The address that services are given. */
  readonly url: string;
  readonly nodes: readonly Node[];
  /** True if it writes its class archive when it ends, which takes a few seconds, once. */
  recording(): boolean;
  /** Ends all its processes side by side. */
  close(): Promise<void>;
}

/** How one process of a daemon is run. */
export interface NodeOptions {
  readonly name: string;
  readonly address: string;
  /** The log that contains the reason if it does not start. */
  readonly logFile: string;
  /** How long it may take to end after SIGTERM. */
  readonly stopGraceMs: number;
  readonly launch: () => Promise<Child>;
  /** Resolves if it has its role in the cluster, rejects if it does not yet. */
  readonly check: () => Promise<void>;
}

/** A {@link Node} that its daemon can also end in a daemon-specific way. */
export interface LaunchedNode extends Node {
  readonly child: () => Child;
}

/**
 * Starts a process of a daemon. The caller must check whether it is ready, because that may depend on the other
 * processes.
 */
export async function launchNode(options: NodeOptions): Promise<LaunchedNode> {
  const { name, address, logFile, stopGraceMs, launch, check } = options;
  let child = await launch();
  const ready = (): Promise<void> => waitForDaemon(child, logFile, check);
  return {
    name,
    address,
    child: () => child,
    pid: () => child.pid,
    ready,
    pause: () => child.signal('SIGSTOP'),
    resume: () => child.signal('SIGCONT'),
    async kill() {
      child.signal('SIGKILL');
      await child.exited;
    },
    async stop() {
      child.signal('SIGTERM');
      const timer = setTimeout(() => child.signal('SIGKILL'), stopGraceMs);
      await child.exited;
      clearTimeout(timer);
    },
    async start() {
      child = await launch();
      await ready();
    },
  };
}

/** Combines processes into a daemon. */
export function daemonOf(url: string, nodes: readonly LaunchedNode[], isRecording: boolean): Daemon {
  return {
    url,
    nodes,
    recording: () => isRecording && nodes.some((node) => node.child().running()),
    async close() {
      await Promise.all(nodes.map((node) => node.child().stop()));
    },
  };
}

/** The name of a daemon's process: the daemon's own if there is one, numbered from 1 if there are several. */
export function nodeName(daemon: string, index: number, count: number): string {
  return count === 1 ? daemon : `${daemon} ${index + 1}`;
}
