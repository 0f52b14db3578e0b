import { referencePattern } from '@pesewa/contracts';
import { answerJson } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { CallbackStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;

/** Adds the operator API: `GET /callbacks?reference=&after=`, without bodies and so without personal data (design 1). */
export function addOperatorRoutes(
  operator: Hono,
  deps: { readonly store: Pick<CallbackStore, 'list'> },
): void {
  operator.get('/callbacks', async (context) => {
    const reference = context.req.query('reference') ?? '';
    if (!referencePattern.test(reference)) {
      return answerJson(context, 400, {
        code: 'malformed',
        message: 'reference must be our transaction reference',
      });
    }
    const page = { after: context.req.query('after'), limit: PAGE_ITEMS_MAX };
    const items = await deps.store.list(reference, page);
    const next = items.length === PAGE_ITEMS_MAX ? (items.at(-1)?.id ?? null) : null;
    return answerJson(context, 200, { items, next });
  });
}
