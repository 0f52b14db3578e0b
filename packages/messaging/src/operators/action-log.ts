import { type ActionView, actionOperations, formatPageCursor } from '@pesewa/contracts';
import { type Clock, type Ids } from '@pesewa/kernel';
import { type Action, answer, type Logger, serveOperations, setRecorder } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Db } from 'mongodb';
import { afterCursor, nextCursor } from '../database/cursor-pagination.ts';
import { ACTIONS } from '../database/schema.ts';

/** An action as MongoDB holds it. */
interface ActionDocument extends Omit<ActionView, 'id' | 'at'> {
  readonly _id: string;
  readonly at: Date;
}

interface ActionLogDeps {
  readonly db: Db;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Keeps what operators do at a service in its database, each action before it is done, and serves the list. Call it before
 * other operator routes are added, which it must see.
 */
export function keepActions(operator: Hono, { db, clock, ids, logger }: ActionLogDeps): void {
  const actions = db.collection<ActionDocument>(ACTIONS);
  const keep = async (action: Action, status: number | null) => {
    const _id = ids.next('ac');
    await actions.insertOne({ _id, at: new Date(clock.nowMs()), ...action, status });
    return _id;
  };
  // What is done, or refused, has its answer, whether it is noted or not.
  const orLog = async (noted: Promise<unknown>, { operation, operator: by }: Action, status: number) => {
    try {
      await noted;
    } catch (error) {
      logger.error({ err: error, operation, operator: by, status }, 'the status of an action is not noted');
    }
  };
  operator.use(async (context, next) => {
    setRecorder(context, {
      begin: async (action) => {
        const _id = await keep(action, null);
        return (status) => orLog(actions.updateOne({ _id }, { $set: { status } }), action, status);
      },
      refused: (action, status) => orLog(keep(action, status), action, status),
    });
    await next();
  });
  serveOperations(operator, actionOperations, {
    list: async ({ query: { operator: by, object, from, to, cursor, limit } }) => {
      const period = {
        ...(from && { $gte: new Date(from) }),
        ...(to && { $lt: new Date(to) }),
        // A later page begins there in the index.
        ...(cursor && { $lte: new Date(cursor.atMs) }),
      };
      const filter = {
        ...(by !== undefined && { operator: by }),
        ...(object !== undefined && { objects: object }),
        ...(Object.keys(period).length > 0 && { at: period }),
        ...afterCursor('at', cursor),
      };
      const found = await actions.find(filter).sort({ at: -1, _id: -1 }).limit(limit).toArray();
      const next = nextCursor(found, limit, ({ at }) => at);
      const items = found.map(({ _id, at, ...action }) => ({ id: _id, at: at.toISOString(), ...action }));
      return answer(200, { items, next: next && formatPageCursor(next) });
    },
  });
}
