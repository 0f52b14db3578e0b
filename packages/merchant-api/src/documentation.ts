import { Hono } from 'hono';
import { openPackageFiles } from './static-files.ts';

/** The page may load only the viewer's own files, so that it works offline. */
const contentSecurityPolicy = [
  "default-src 'self'",
  // Swagger UI sets styles on elements, and its icons are data URLs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageOf = (title: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="viewer"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** A request that the viewer is about to send. */
export interface ViewerRequest {
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Without `validatorUrl: null` the viewer would send the document's address to a public service. */
const startScriptOf = (prepareRequest: (request: ViewerRequest) => ViewerRequest) => `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  requestInterceptor: ${prepareRequest.toString()},
});
`;

const headers = { 'cache-control': 'public, max-age=3600' };
const viewer = openPackageFiles({
  manifestUrl: import.meta.resolve('swagger-ui-dist/package.json'),
  directory: '.',
  only: ['swagger-ui.css', 'swagger-ui-bundle.js'],
  headers,
});

/** An API's own documentation, for everyone: `GET /openapi.json` and a viewer of it at `GET /docs`. */
export function createDocumentationRoutes(options: {
  /** The page's title, which is not escaped. */
  readonly title: string;
  /** Builds the OpenAPI document, at its first request. */
  readonly buildOpenApiDocument: () => object;
  /** Completes what the viewer sends. Its text runs in the browser, so it may use nothing that stands outside of it. */
  readonly prepareRequest?: (request: ViewerRequest) => ViewerRequest;
}): Hono {
  const routes = new Hono();
  const nosniff = { 'x-content-type-options': 'nosniff' };
  const page = pageOf(options.title);
  const startScript = startScriptOf(options.prepareRequest ?? ((request) => request));
  let document: string | undefined;
  routes.get('/openapi.json', (context) => {
    document ??= JSON.stringify(options.buildOpenApiDocument());
    const type = { 'content-type': 'application/json; charset=UTF-8' };
    return context.newResponse(document, 200, { ...type, ...nosniff, 'cache-control': 'no-cache' });
  });
  routes.get('/docs', (context) =>
    context.newResponse(page, 200, {
      'content-type': 'text/html; charset=UTF-8',
      'content-security-policy': contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
      ...nosniff,
      ...headers,
    }),
  );
  routes.get('/docs/start.js', (context) =>
    context.newResponse(startScript, 200, {
      'content-type': 'text/javascript; charset=UTF-8',
      ...nosniff,
      ...headers,
    }),
  );
  routes.get('/docs/:name{swagger-ui[a-z.-]+}', (context, next) => {
    const name = context.req.param('name');
    return viewer.has(name) ? viewer.answer(context, name) : next();
  });
  return routes;
}
