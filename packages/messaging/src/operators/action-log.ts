import { type ActionView, actionOperations, formatPageCursor } from '@pesewa/contracts';
import { type Clock, type Ids } from '@pesewa/kernel';
import { answer, serveOperations, setRecorder } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Db } from 'mongodb';
import { afterCursor, nextCursor } from '../database/cursor-pagination.ts';
import { ACTIONS } from '../database/schema.ts';

/** An action as MongoDB holds it. */
interface ActionDocument extends Omit<ActionView, 'id' | 'at'> {
  readonly _id: string;
  readonly at: Date;
}

/**
 * Keeps what operators do at a service in its database, each action before it is done, and serves the list. Call it before
 * other operator routes are added, which it must see.
 */
export function keepActions(
  operator: Hono,
  { db, clock, ids }: { readonly db: Db; readonly clock: Pick<Clock, 'nowMs'>; readonly ids: Ids },
): void {
  const actions = db.collection<ActionDocument>(ACTIONS);
  operator.use(async (context, next) => {
    setRecorder(context, async (action) => {
      const _id = ids.next('ac');
      await actions.insertOne({ _id, at: new Date(clock.nowMs()), ...action, status: null });
      return async (status) => {
        await actions.updateOne({ _id }, { $set: { status } });
      };
    });
    await next();
  });
  serveOperations(operator, actionOperations, {
    list: async ({ query: { operator: by, object, cursor, limit } }) => {
      const filter = {
        ...(by !== undefined && { operator: by }),
        ...(object !== undefined && { objects: object }),
        ...afterCursor('at', cursor),
      };
      const found = await actions.find(filter).sort({ at: -1, _id: -1 }).limit(limit).toArray();
      const next = nextCursor(found, limit, ({ at }) => at);
      const items = found.map(({ _id, at, ...action }) => ({ id: _id, at: at.toISOString(), ...action }));
      return answer(200, { items, next: next && formatPageCursor(next) });
    },
  });
}
