import { z } from 'zod';
import type { Ask } from './ask.ts';
import { readPages } from './pages.ts';

/** A stored callback as webhook-ingress shows it: without its body. */
export const callback = z.object({
  id: z.string(),
  rail: z.string(),
  kind: z.string(),
  state: z.string(),
  reference: z.string().nullable(),
  claimedStatus: z.string().nullable(),
  claimedAmount: z.string().nullable(),
  claimedCurrency: z.string().nullable().default(null),
  failure: z.string().nullable(),
  deliveries: z.number(),
  timesPassedOn: z.number(),
  conflicts: z.number(),
  verdict: z.object({ address: z.string(), signature: z.string(), proven: z.boolean() }),
  receivedAt: z.string(),
});

const rejected = z.object({
  id: z.string(),
  rail: z.string(),
  kind: z.string(),
  reason: z.string(),
  digest: z.string(),
  bodyBytes: z.number().optional(),
  peerAddress: z.string().optional(),
  clientAddress: z.string().optional(),
  forwardedFor: z.string().nullable().default(null),
  receivedAt: z.string(),
});

/** A stored callback as webhook-ingress shows it: without its body. */
export type CallbackView = z.output<typeof callback>;

/** A refused request as webhook-ingress shows it. */
export type RejectedView = z.output<typeof rejected>;

const changed = z.object({ id: z.string(), state: z.string() });

/** The result of an operator's action on a callback. */
export type ChangedCallback = z.output<typeof changed>;

/** The callbacks of rails, as webhook-ingress keeps them. */
export interface Callbacks {
  /** Of one payment, by our transaction reference, the oldest first. */
  readonly about: (reference: string, limit: number) => Promise<readonly CallbackView[]>;
  /** Those that failed because of a defect in our own reading, the oldest first. */
  readonly failed: (limit: number) => Promise<readonly CallbackView[]>;
  /** Those that were refused, the newest first. */
  readonly rejected: (query: {
    readonly rail: string | undefined;
    readonly reason: string | undefined;
    readonly limit: number;
  }) => Promise<readonly RejectedView[]>;
  readonly redrive: (id: string) => Promise<ChangedCallback>;
  readonly dismiss: (id: string) => Promise<ChangedCallback>;
}

/** Builds {@link Callbacks}. */
export function createCallbacks(ask: Ask): Callbacks {
  const service = 'webhookIngressUrl' as const;
  const callbacks = { service, path: '/callbacks', cursorName: 'after' } as const;
  const order = (id: string, what: 'redrive' | 'dismiss') =>
    ask(changed, { service, path: `/callbacks/${encodeURIComponent(id)}/${what}`, body: {} });
  return {
    about: (reference, limit) => readPages(ask, callback, { ...callbacks, query: { reference }, limit }),
    failed: (limit) => readPages(ask, callback, { ...callbacks, query: { state: 'failed' }, limit }),
    rejected: ({ rail, reason, limit }) =>
      readPages(ask, rejected, { ...callbacks, path: '/callbacks/rejected', query: { rail, reason }, limit }),
    redrive: (id) => order(id, 'redrive'),
    dismiss: (id) => order(id, 'dismiss'),
  };
}
