export {
  type AppEnv,
  type AuthenticationDeps,
  type AuthenticationRefusal,
  authenticate,
} from './authentication.ts';
export { createDocumentationRoutes, type ViewerRequest } from './documentation.ts';
export { type LimitUsage, type LimitUsageStore, openLimitUsage, openUsageStore } from './limit-usage.ts';
export { createReadPage, listParameters, nextCursorField, onlyParameters } from './lists.ts';
export { createNotFoundHandler } from './not-found.ts';
export { buildOpenApiDocument, retryAfter } from './openapi.ts';
export { createRateLimiter } from './rate-limiter.ts';
export { openPackageFiles } from './static-files.ts';
