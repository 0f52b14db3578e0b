export { exchange, postJson, ServerError } from './clients/http.ts';
export {
  batchBody,
  type CollectionRequest,
  createMerchantClient,
  type MerchantClient,
  type PayoutRequest,
} from './clients/merchant.ts';
export { runDemo } from './demo/demo.ts';
export { runDemoOnRunning } from './demo/running.ts';
export { createRunFileWriter } from './services/run-file.ts';
export { demoWallets, type SeededMerchant, seedDirectory } from './services/seed.ts';
export {
  newToken,
  operationsUrl,
  publicUrl,
  type ServicePorts,
  type StackSettings,
  serviceEnvironment,
} from './services/settings.ts';
export { callbackSettings, SIMULATOR_RAIL, simulatorRail } from './services/simulator-rail.ts';
export { openStack, type Replica, type Stack, type StackOptions } from './services/stack.ts';
export { superviseService } from './services/supervise.ts';
