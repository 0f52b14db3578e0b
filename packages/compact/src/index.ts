export { environmentOf, variablesOf } from './config.ts';
export { hubServices } from './services.ts';
