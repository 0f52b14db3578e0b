import { callbackOperations } from '@pesewa/contracts';
import { answer, type Logger, refusalsAs, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { OperatorActions } from './operator-actions.ts';
import type { CallbackStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;

const unknown = ['not_found', 'there is no such callback'] as const;

const refuseRedrive = refusalsAs({
  'callback.unknown': unknown,
  'callback.unreadable': ['failed', 'its body still cannot be read'],
  'callback.dismissed': ['dismissed', 'its body is no callback of this rail: it is dismissed'],
  'rail.unknown': ['rail_unknown', 'its rail is not in RAILS: configure it again, or dismiss the callback'],
});

const refuseDismiss = refusalsAs({
  'callback.unknown': unknown,
  'callback.not_failed': ['not_failed', 'it was passed on: nothing waits'],
});

/** Adds the operator API: its lists are without bodies, and so without personal data. */
export function addOperatorRoutes(
  operatorApi: Hono,
  deps: {
    readonly callbacks: OperatorActions;
    readonly store: Pick<CallbackStore, 'list' | 'listRejected'>;
    readonly logger: Pick<Logger, 'info'>;
  },
): void {
  const { callbacks, store, logger } = deps;
  serveOperations(operatorApi, callbackOperations, {
    list: async ({ query }) => answer(200, page(await store.list({ ...query, limit: PAGE_ITEMS_MAX }))),
    rejected: async ({ query }) =>
      answer(200, page(await store.listRejected({ ...query, limit: PAGE_ITEMS_MAX }))),
    redrive: async ({ parameters: { id }, operator }) => {
      const driven = await callbacks.redrive(id);
      const outcome = driven.ok ? driven.value : driven.refusal;
      logger.info({ callback: id, operator, outcome }, 'a callback was driven again by hand');
      return driven.ok ? answer(202, { id, state: driven.value }) : refuseRedrive(driven.refusal);
    },
    dismiss: async ({ parameters: { id }, operator }) => {
      const ended = await callbacks.dismiss(id);
      const outcome = ended.ok ? ended.value : ended.refusal;
      logger.info({ callback: id, operator, outcome }, 'a callback was dismissed by hand');
      return ended.ok ? answer(200, { id, state: ended.value }) : refuseDismiss(ended.refusal);
    },
  });
}

function page<Item extends { readonly id: string }>(items: readonly Item[]) {
  return { items: [...items], next: items.length === PAGE_ITEMS_MAX ? (items.at(-1)?.id ?? null) : null };
}
