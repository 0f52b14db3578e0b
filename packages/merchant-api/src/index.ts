export { readBody, readText } from './bodies.ts';
export { createCounter, type RateCounter } from './counter.ts';
export { createDocumentationRoutes } from './documentation.ts';
export { createMerchantLookup, type MerchantLookup } from './merchant-lookup.ts';
export { allowedMethods } from './methods.ts';
export { allowEmpty } from './openapi.ts';
export { addPaymentRoute, viewTimeline, withoutNames } from './payment-route.ts';
export { openPackageFiles, type StaticFiles } from './static-files.ts';
