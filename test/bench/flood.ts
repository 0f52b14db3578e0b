import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What is sent, and how fast. */
export interface FloodOptions {
  readonly url: string;
  readonly perSecond: number;
}

/** What came of a flood. */
export interface Flooded {
  readonly seconds: number;
  /** How many got which answer, or were not sent because too many were on their way. */
  readonly answers: Readonly<Record<string, number>>;
}

/** Forged callbacks on their way, from a thread of their own so that nothing here delays them. */
export interface Flood {
  readonly end: () => Promise<Flooded>;
}

/** Begins to send callbacks whose signature is wrong, each about another payment. */
export function openFlood(url: string, perSecond: number): Flood {
  const workerData: FloodOptions = { url, perSecond };
  const thread = new Worker(new URL('flood-thread.ts', import.meta.url), { workerData });
  return {
    end: async () => {
      thread.postMessage('end');
      const [flooded] = (await once(thread, 'message')) as [Flooded];
      await thread.terminate();
      return flooded;
    },
  };
}
