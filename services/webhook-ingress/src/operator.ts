import { referencePattern } from '@pesewa/contracts';
import { answerJson, type Logger, operatorOf } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Callbacks } from './callbacks.ts';
import type { CallbackStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;

const after = z.string().max(200).optional();
const query = z
  .object({
    reference: z.string().regex(referencePattern).optional(),
    state: z.enum(['passed_on', 'failed']).optional(),
    after,
  })
  .refine(({ reference, state }) => reference !== undefined || state !== undefined);
const rejectedQuery = z.object({ after });

/**
 * Adds the operator API: `GET /callbacks?reference=&state=&after=`, `GET /callbacks/rejected?after=`, both without bodies
 * and so without personal data, and `POST /callbacks/{id}/redrive` (design 1).
 */
export function addOperatorRoutes(
  operator: Hono,
  deps: {
    readonly callbacks: Pick<Callbacks, 'redrive'>;
    readonly store: Pick<CallbackStore, 'list' | 'listRejected'>;
    readonly logger: Pick<Logger, 'info'>;
  },
): void {
  operator.get('/callbacks', async (context) => {
    const asked = query.safeParse(context.req.query());
    if (!asked.success) {
      const message = 'ask by our transaction reference, by state (passed_on, failed), or both';
      return answerJson(context, 400, { code: 'malformed', message });
    }
    const items = await deps.store.list({ ...asked.data, limit: PAGE_ITEMS_MAX });
    return answerJson(context, 200, page(items));
  });

  operator.get('/callbacks/rejected', async (context) => {
    const asked = rejectedQuery.safeParse(context.req.query());
    if (!asked.success) return answerJson(context, 400, { code: 'malformed', message: 'after is no cursor' });
    const items = await deps.store.listRejected({ ...asked.data, limit: PAGE_ITEMS_MAX });
    return answerJson(context, 200, page(items));
  });

  operator.post('/callbacks/:id/redrive', async (context) => {
    const id = context.req.param('id');
    const driven = await deps.callbacks.redrive(id);
    deps.logger.info(
      { callback: id, operator: operatorOf(context), outcome: driven.ok ? driven.value : driven.refusal },
      'a callback was driven again by hand',
    );
    if (driven.ok) return answerJson(context, 202, { id, state: driven.value });
    return driven.refusal === 'callback.unknown'
      ? answerJson(context, 404, { code: 'not_found', message: 'there is no such callback' })
      : answerJson(context, 409, { code: 'failed', message: 'its body still cannot be read' });
  });
}

function page<Item extends { readonly id: string }>(items: readonly Item[]) {
  return { items, next: items.length === PAGE_ITEMS_MAX ? (items.at(-1)?.id ?? null) : null };
}
