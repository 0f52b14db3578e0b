import type { Child } from './children.ts';
import { waitForDaemon } from './wait.ts';

/** Where and how a local daemon keeps its data. */
export interface DaemonHome {
  readonly dataDirectory: string;
  /** True where the data goes with the run: then nothing needs a gentle end. */
  readonly fresh: boolean;
}

/** One process of a daemon, which a test may break and start again. */
export interface Node {
  /** As in `Kafka 2`; where it is the only one, as in `Kafka`. */
  readonly name: string;
  /** Where it listens, as `host:port`; the same after every start. */
  readonly address: string;
  /** The process of now, or the last one. */
  pid(): number;
  /** Ends it by SIGKILL, paused or not, and resolves once it is gone. */
  kill(): Promise<void>;
  /** Ends it gently by SIGTERM, and resolves once it is gone. */
  stop(): Promise<void>;
  /** Stops its clock by SIGSTOP: connections stay open, and nothing answers. */
  pause(): void;
  /** Lets it go on after a pause. */
  resume(): void;
  /** Starts it again after it ended, on its data and its address, and resolves once it is ready. */
  start(): Promise<void>;
  /** Resolves once it has its part in the cluster: a broker that leads or follows, a primary or a secondary. */
  ready(): Promise<void>;
}

/** What answers under one address: one process, or as many as keep a copy of the data. */
export interface Daemon {
  /** What services are given. */
  readonly url: string;
  readonly nodes: readonly Node[];
  /** True where it writes its class archive as it ends, which takes a few seconds, once. */
  recording(): boolean;
  /** Ends all its processes side by side. */
  close(): Promise<void>;
}

/** How one process of a daemon is run. */
export interface NodeOptions {
  readonly name: string;
  readonly address: string;
  /** The file that says why it did not start. */
  readonly logFile: string;
  readonly startTimeoutMs: number;
  /** How long it may take to end after SIGTERM. */
  readonly stopGraceMs: number;
  readonly launch: () => Promise<Child>;
  /** Resolves where it has its part in the cluster, rejects where it has not yet. */
  readonly check: () => Promise<void>;
}

/** A {@link Node} that its daemon can end in its own way. */
export interface LaunchedNode extends Node {
  readonly child: () => Child;
}

/** Starts a process of a daemon; whether it is ready is for the caller to ask, for it may need the others first. */
export async function launchNode(options: NodeOptions): Promise<LaunchedNode> {
  const { name, address, logFile, startTimeoutMs, stopGraceMs, launch, check } = options;
  let child = await launch();
  const ready = (): Promise<void> => waitForDaemon(child, logFile, startTimeoutMs, check);
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

/** Puts the processes of a daemon together. */
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

/** The names of a daemon's processes: its own where there is one, numbered from 1 where there are more. */
export function nodeName(daemon: string, index: number, count: number): string {
  return count === 1 ? daemon : `${daemon} ${index + 1}`;
}
