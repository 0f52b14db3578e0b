import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * `living` endpoints answer 200 at once; `silent` ones accept the connection and the request and never answer;
 * `dripping` ones answer 200 at once, and a byte of the body a second, without an end.
 */
export interface ReceiverOptions {
  readonly kind: 'living' | 'silent' | 'dripping';
  readonly count: number;
}

/** A webhook as a living endpoint received it. */
export interface Received {
  /** Its `webhook-id`. */
  readonly id: string;
  /** By the wall clock of this machine. */
  readonly atMs: number;
}

/** Merchants' endpoints, in a thread of their own so that nothing here delays them. */
export interface Receivers extends AsyncDisposable {
  /** One for each endpoint. */
  readonly origins: readonly string[];
  /** What came since it was last asked. */
  readonly take: () => Promise<readonly Received[]>;
}

/** Opens endpoints; once closed, they refuse connections, and those that are open are broken off. */
export async function openReceivers(options: ReceiverOptions): Promise<Receivers> {
  const thread = new Worker(new URL('webhook-receiver-thread.ts', import.meta.url), { workerData: options });
  const [origins] = (await once(thread, 'message')) as [readonly string[]];
  return {
    origins,
    take: async () => {
      thread.postMessage('take');
      const [received] = (await once(thread, 'message')) as [readonly Received[]];
      return received;
    },
    [Symbol.asyncDispose]: async () => {
      await thread.terminate();
    },
  };
}
