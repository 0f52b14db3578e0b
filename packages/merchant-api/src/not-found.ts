import type { Context } from 'hono';
import type { RouterRoute } from 'hono/types';

/** The methods that a path accepts, with HEAD wherever GET is; empty if the path does not exist. */
export function allowedMethods(routes: readonly RouterRoute[], path: string): readonly string[] {
  const methods = routes
    .filter((route) => route.method !== 'ALL' && matches(route.path, path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(methods)].toSorted();
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) =>
      segment.startsWith(':') ? given[index] !== '' : segment === given[index],
    )
  );
}

/** Answers an unrouted request: 405 with the allowed methods if the path exists, else 404 with none. */
export function createNotFoundHandler(
  app: { readonly routes: readonly RouterRoute[] },
  answer: (context: Context, status: 404 | 405, allowed: readonly string[]) => Response,
): (context: Context) => Response {
  return (context) => {
    const allowed = allowedMethods(app.routes, context.req.path);
    if (allowed.length === 0 || allowed.includes(context.req.method)) return answer(context, 404, []);
    context.header('allow', allowed.join(', '));
    return answer(context, 405, allowed);
  };
}
