export const readAll = (context: { req: { json: () => unknown } }): unknown => context.req.json();
export const readRaw = (context: { req: { raw: { body: unknown } } }): unknown => context.req.raw.body;
export const readHeaders = (context: { req: { raw: { headers: unknown } } }): unknown => context.req.raw.headers;
