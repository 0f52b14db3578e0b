import { expect, it } from 'vitest';
import { environmentOf, variablesOf } from './config.ts';

it('a service gets what all share, and its own instead of it', () => {
  const shared = { LOG_LEVEL: 'warn', PORT: '1', LEDGER__PORT: '2', PAYOUT_GATEWAY__PORT: '3' };
  expect(environmentOf(shared, 'ledger')).toMatchObject({ LOG_LEVEL: 'warn', PORT: '2' });
  expect(environmentOf(shared, 'payout-gateway')).toMatchObject({ LOG_LEVEL: 'warn', PORT: '3' });
  expect(environmentOf(shared, 'reconciler')).toMatchObject({ LOG_LEVEL: 'warn', PORT: '1' });
});

it.each([
  ['MONGODB_URL', 'MONGODB_URL_FILE'],
  ['MONGODB_URL_FILE', 'MONGODB_URL'],
])('a shared %s gives way to %s of its own', (given, own) => {
  const environment = environmentOf({ [given]: 'shared', [`LEDGER__${own}`]: 'own' }, 'ledger');
  expect(environment[own]).toBe('own');
  expect(environment).not.toHaveProperty(given);
});

it('what is given to one service reaches it, and no other', () => {
  const given = { PATH: '/bin', ...variablesOf('webhook-ingress', { PORT: '4030' }) };
  expect(environmentOf(given, 'webhook-ingress')).toMatchObject({ PATH: '/bin', PORT: '4030' });
  expect(environmentOf(given, 'ledger')).not.toHaveProperty('PORT');
});
