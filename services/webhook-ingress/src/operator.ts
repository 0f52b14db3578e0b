import { referencePattern } from '@pesewa/contracts';
import { answerJson, type Logger, operatorOf } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { rejectionReasons } from './domain/callback.ts';
import { callbackStates } from './domain/reception.ts';
import type { DismissRefusal, OperatorActions, RedriveRefusal } from './operator-actions.ts';
import type { CallbackStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;

const after = z.string().max(200).optional();
const query = z
  .object({
    reference: z.string().regex(referencePattern).optional(),
    state: z.enum(callbackStates).optional(),
    after,
  })
  .refine(({ reference, state }) => reference !== undefined || state !== undefined);
const rejectedQuery = z.object({
  rail: z.string().max(32).optional(),
  reason: z.enum(rejectionReasons).optional(),
  after,
});

interface Refusal {
  readonly status: 404 | 409;
  readonly code: string;
  readonly message: string;
}

const unknown: Refusal = { status: 404, code: 'not_found', message: 'there is no such callback' };

const refusals: Readonly<Record<RedriveRefusal | DismissRefusal, Refusal>> = {
  'callback.unknown': unknown,
  'callback.unreadable': { status: 409, code: 'failed', message: 'its body still cannot be read' },
  'callback.dismissed': {
    status: 409,
    code: 'dismissed',
    message: 'its body is no callback of this rail: it is dismissed',
  },
  'rail.unknown': {
    status: 409,
    code: 'rail_unknown',
    message: 'its rail is not in RAILS: configure it again, or dismiss the callback',
  },
  'callback.not_failed': { status: 409, code: 'not_failed', message: 'it was passed on: nothing waits' },
};

/**
 * Adds the operator API (ADR 60): `GET /callbacks?reference=&state=&after=`, `GET
 * /callbacks/rejected?rail=&reason=&after=`, both without bodies and so without personal data, and `POST
 * /callbacks/{id}/redrive` and `/dismiss`.
 */
export function addOperatorRoutes(
  operator: Hono,
  deps: {
    readonly callbacks: OperatorActions;
    readonly store: Pick<CallbackStore, 'list' | 'listRejected'>;
    readonly logger: Pick<Logger, 'info'>;
  },
): void {
  const { callbacks, store, logger } = deps;
  operator.get('/callbacks', async (context) => {
    const asked = query.safeParse(context.req.query());
    if (!asked.success) {
      const message = `ask by our transaction reference, by state (${callbackStates.join(', ')}), or both`;
      return answerJson(context, 400, { code: 'malformed', message });
    }
    const items = await store.list({ ...asked.data, limit: PAGE_ITEMS_MAX });
    return answerJson(context, 200, page(items));
  });

  operator.get('/callbacks/rejected', async (context) => {
    const asked = rejectedQuery.safeParse(context.req.query());
    if (!asked.success) {
      const message = `ask by rail, by reason (${rejectionReasons.join(', ')}), or neither`;
      return answerJson(context, 400, { code: 'malformed', message });
    }
    const items = await store.listRejected({ ...asked.data, limit: PAGE_ITEMS_MAX });
    return answerJson(context, 200, page(items));
  });

  operator.post('/callbacks/:id/redrive', async (context) => {
    const id = context.req.param('id');
    const driven = await callbacks.redrive(id);
    note(context, id, driven.ok ? driven.value : driven.refusal, 'a callback was driven again by hand');
    return driven.ok
      ? answerJson(context, 202, { id, state: driven.value })
      : answerRefusal(context, driven.refusal);
  });

  operator.post('/callbacks/:id/dismiss', async (context) => {
    const id = context.req.param('id');
    const ended = await callbacks.dismiss(id);
    note(context, id, ended.ok ? ended.value : ended.refusal, 'a callback was dismissed by hand');
    return ended.ok
      ? answerJson(context, 200, { id, state: ended.value })
      : answerRefusal(context, ended.refusal);
  });

  function note(context: Context, callback: string, outcome: string, message: string): void {
    logger.info({ callback, operator: operatorOf(context), outcome }, message);
  }
}

function answerRefusal(context: Context, refusal: RedriveRefusal | DismissRefusal): Response {
  const { status, code, message } = refusals[refusal];
  return answerJson(context, status, { code, message });
}

function page<Item extends { readonly id: string }>(items: readonly Item[]) {
  return { items, next: items.length === PAGE_ITEMS_MAX ? (items.at(-1)?.id ?? null) : null };
}
