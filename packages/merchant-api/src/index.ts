export {
  type AppEnv,
  type AuthenticationDeps,
  type AuthenticationRefusal,
  authenticate,
} from './authentication.ts';
export { createDocumentationRoutes } from './documentation.ts';
export { createUnrouted } from './methods.ts';
export { createDocument, retryAfter } from './openapi.ts';
export { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
export { createRecorder, type Recorder } from './recorder.ts';
export { openPackageFiles, type StaticFiles } from './static-files.ts';
export {
  openUsageBook,
  openUsageStore,
  type UsageBook,
  type UsageStore,
} from './usage.ts';
