import { afterAll, beforeAll } from 'vitest';
import { ingress, openIngress } from './ingress.ts';
import './rules/ingress-authenticity.ts';
import './rules/ingress-doors.ts';
import './rules/ingress-hints.ts';
import './rules/ingress-wire.ts';

beforeAll(async () => {
  await openIngress();
});

afterAll(async () => {
  await ingress[Symbol.asyncDispose]();
});
