import type { Infrastructure, Supervisor } from '@pesewa/infrastructure';
import type { Row } from './rows.ts';

/** The arguments of every benchmark. */
export interface BenchOptions {
  readonly root: string;
  readonly infrastructure: Infrastructure;
  readonly supervisor: Supervisor;
  readonly log: (line: string) => void;
  /** Earlier results of the run, the machine's own floors first. */
  readonly earlier: readonly Row[];
}

/** A benchmark: measures against its floor in the same run. */
export type Bench = (options: BenchOptions) => Promise<readonly Row[]>;
