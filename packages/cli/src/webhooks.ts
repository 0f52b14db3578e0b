import { z } from 'zod';
import type { Ask } from './ask.ts';
import { readPages } from './pages.ts';

const endpoint = z.object({
  merchantId: z.string(),
  endpoint: z.string(),
  state: z.string(),
  pending: z.number(),
  failing: z.number(),
  oldestBornAt: z.string(),
  nextAt: z.string(),
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
});

/** A merchant's endpoint that is owed webhooks, as webhook-dispatcher shows it. */
export type EndpointView = z.output<typeof endpoint>;

/** The maximum number of endpoints that webhook-dispatcher shows. */
export const ENDPOINTS_MAX = 100;

/** The webhooks that merchants are owed, as webhook-dispatcher keeps them. */
export interface Webhooks {
  /** Where they go, at most {@link ENDPOINTS_MAX}: those with the most failing ones first. */
  readonly endpoints: () => Promise<readonly EndpointView[]>;
}

/** Builds {@link Webhooks}. */
export function createWebhooks(ask: Ask): Webhooks {
  const list = {
    service: 'webhookDispatcherUrl',
    path: '/endpoints',
    query: {},
    limit: ENDPOINTS_MAX,
  } as const;
  return { endpoints: () => readPages(ask, endpoint, list) };
}
