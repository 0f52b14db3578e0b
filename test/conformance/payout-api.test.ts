import { afterAll, beforeAll } from 'vitest';
import { api, openApi } from './conformance.ts';
// Balances first, while nothing has moved them; then one rule after the other; what takes the most last.
import './rules/inquiries.ts';
import './rules/single-fields.ts';
import './rules/acceptance.ts';
import './rules/access.ts';
import './rules/bulk.ts';

beforeAll(async () => {
  await openApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});
