import { Counter, type Registry } from 'prom-client';
import type { SignInDeps } from './sign-in.ts';

/** Counts sign-ins by their results. */
export function countSignIns(registry: Registry): SignInDeps['counted'] {
  const counter = new Counter({
    name: 'pesewa_console_sign_ins_total',
    help: 'Sign-ins by result: signed_in, refused, slowed, unavailable.',
    labelNames: ['result'],
    registers: [registry],
  });
  return (result) => counter.inc({ result });
}
