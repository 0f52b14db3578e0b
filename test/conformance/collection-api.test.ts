import { afterAll, beforeAll } from 'vitest';
import { collections, openCollections } from './collections.ts';
// The rules run one after another; the slowest, and those that check all earlier ones, come last.
import './rules/collection-mobile-operators.ts';
import './rules/collection-module.ts';
import './rules/collection-amounts.ts';
import './rules/collection-fields.ts';
import './rules/collection-addresses.ts';
import './rules/collection-bodies.ts';
import './rules/collection-access.ts';
import './rules/collection-order.ts';
import './rules/collection-duplicates.ts';
import './rules/collection-completion.ts';
import './rules/collection-otp.ts';
import './rules/collection-status.ts';
import './rules/collection-webhooks.ts';
import './rules/collection-lists.ts';
import './rules/collection-rates.ts';
import './rules/collection-privacy.ts';

beforeAll(async () => {
  await openCollections();
});

afterAll(async () => {
  await collections[Symbol.asyncDispose]();
});
