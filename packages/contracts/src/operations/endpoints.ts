import { z } from 'zod';
import { seenLine } from '../text.ts';
import { declareOperations, strictFields } from './operation.ts';

const NAME_LENGTH_MAX = 64;
/** The longest name of an endpoint. */
export const ENDPOINT_LENGTH_MAX = 300;

const enabledView = z.object({
  merchantId: z.string(),
  endpoint: z.string(),
  /** How many webhooks wait for it; 50,000 means at least as many. */
  waiting: z.number(),
  failingSince: z.string(),
  /** False if it was only asked what would happen. */
  enabled: z.boolean(),
});

/** A disabled endpoint that is enabled again, or would be. */
export type EnabledEndpointView = z.output<typeof enabledView>;

/** What operators do with endpoints of merchants. */
export const endpointOperations = declareOperations({
  enable: {
    method: 'post',
    path: '/endpoints/enable',
    summary: 'Enables a disabled endpoint, which then gets what was kept; `dryRun` counts it',
    body: strictFields(
      {
        merchantId: seenLine(NAME_LENGTH_MAX),
        /** `payouts`, `collections`, or an origin. */
        endpoint: seenLine(ENDPOINT_LENGTH_MAX),
        dryRun: z.boolean({ error: 'must be true or false' }).optional(),
      },
      (names) => `${names.join(', ')} is no field of this request: it has merchantId, endpoint and dryRun`,
    ),
    answers: { 200: enabledView },
    refusals: { not_found: 404, not_disabled: 409 },
  },
});
