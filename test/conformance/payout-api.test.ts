import { afterAll, beforeAll } from 'vitest';
import { api, openApi } from './conformance.ts';
// Balances come first, before anything has changed them; the slowest rules come last.
import './rules/inquiries.ts';
import './rules/single-fields.ts';
import './rules/lists.ts';
import './rules/statements.ts';
import './rules/acceptance.ts';
import './rules/access.ts';
import './rules/bulk.ts';

beforeAll(async () => {
  await openApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});
