import type { MiddlewareHandler } from 'hono';
import { answerJson } from './http.ts';

/** Counts the requests behind it; disposing of it refuses new ones and awaits those in progress. */
export interface RequestGate extends AsyncDisposable {
  readonly middleware: MiddlewareHandler;
}

/** Builds a {@link RequestGate}; refused requests get 503 and may be sent to another process. */
export function createRequestGate(): RequestGate {
  let inProgress = 0;
  let isClosed = false;
  const empty = Promise.withResolvers<void>();
  const finish = () => {
    if (isClosed && inProgress === 0) empty.resolve();
  };
  return {
    middleware: async (context, next) => {
      if (isClosed) {
        const answer = { code: 'unavailable', message: 'this process is ending: try again' };
        return answerJson(context, 503, answer);
      }
      inProgress += 1;
      try {
        await next();
        return undefined;
      } finally {
        inProgress -= 1;
        finish();
      }
    },
    [Symbol.asyncDispose]: () => {
      isClosed = true;
      finish();
      return empty.promise;
    },
  };
}
