import { z } from 'zod';
import type { Ask } from './operations.ts';

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

/** What became of a callback that an operator ordered about. */
export type ChangedCallback = z.output<typeof changed>;

/** The callbacks of rails, as webhook-ingress keeps them. */
export interface Callbacks {
  /** Of one payment, by our transaction reference, the oldest first. */
  readonly about: (reference: string, limit: number) => Promise<readonly CallbackView[]>;
  /** Those that our own reading broke on, the oldest first. */
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
  const pages = async <Item extends z.ZodType>(
    item: Item,
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    limit: number,
  ): Promise<readonly z.output<Item>[]> => {
    const page = z.object({ items: z.array(item), next: z.string().nullable() });
    const items: z.output<Item>[] = [];
    let after: string | null = '';
    while (after !== null && items.length < limit) {
      const asked = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...query, after }))
        if (value !== undefined && value !== '') asked.set(name, value);
      const at = asked.size === 0 ? path : `${path}?${asked.toString()}`;
      const found: z.output<typeof page> = await ask(page, { service, path: at });
      items.push(...found.items);
      after = found.next;
    }
    return items.slice(0, limit);
  };
  const order = (id: string, what: 'redrive' | 'dismiss') =>
    ask(changed, { service, path: `/callbacks/${encodeURIComponent(id)}/${what}`, body: {} });
  return {
    about: (reference, limit) => pages(callback, '/callbacks', { reference }, limit),
    failed: (limit) => pages(callback, '/callbacks', { state: 'failed' }, limit),
    rejected: ({ rail, reason, limit }) => pages(rejected, '/callbacks/rejected', { rail, reason }, limit),
    redrive: (id) => order(id, 'redrive'),
    dismiss: (id) => order(id, 'dismiss'),
  };
}
