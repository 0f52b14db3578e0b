import { serviceNames } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { hubServices } from './services.ts';

it('every service of an installation is one of the process', () => {
  const names = serviceNames.filter((name) => name !== 'provider-simulator');
  expect(hubServices.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

it('databases are recovered in the order of docs/database-restored.md', () => {
  const order = ['ledger', 'payout-gateway', 'collection-gateway', 'reconciler'];
  expect(hubServices.slice(0, order.length).map(({ name }) => name)).toEqual(order);
});
