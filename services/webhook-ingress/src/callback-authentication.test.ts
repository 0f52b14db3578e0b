import { upstreamRail } from '@pesewa/rails';
import { parseConfig } from '@pesewa/runtime';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { refusedRails, reportUnauthenticatedRails } from './callback-authentication.ts';
import { settings } from './config.ts';

const rails = [
  { name: 'open', callbackAddresses: [], callbackSecrets: [] },
  { name: 'fenced', callbackAddresses: ['203.0.113.7'], callbackSecrets: [] },
  { name: 'signed', callbackAddresses: [], callbackSecrets: ['whsec_'] },
];

test.each([true, false])(
  'rails without addresses and secrets are shown, in production (%s) warned of',
  async (isProduction) => {
    const warned: unknown[] = [];
    const registry = new Registry();
    const logger = { warn: (...line: unknown[]) => void warned.push(line[0]) };
    reportUnauthenticatedRails({ rails, isProduction, logger, registry });
    expect(warned).toEqual(isProduction ? [{ rail: 'open' }] : []);
    const shown = await registry.metrics();
    for (const [rail, value] of [
      ['open', 1],
      ['fenced', 0],
      ['signed', 0],
    ] as const)
      expect(shown).toContain(`rail_callbacks_unauthenticated{rail="${rail}"} ${value}\n`);
  },
);

test('production takes no callbacks that nothing authenticates, unless they are permitted by name', () => {
  const refused = (changes: object) =>
    refusedRails({ RAILS: rails, ALLOW_INSECURE: [], NODE_ENV: 'production', ...changes });
  expect(refused({})).toEqual(['open']);
  expect(refused({ ALLOW_INSECURE: ['kafka', 'mongodb', 'registry'] })).toEqual(['open']);
  expect(refused({ ALLOW_INSECURE: ['callbacks'] })).toEqual([]);
  expect(refused({ NODE_ENV: 'development' })).toEqual([]);
});

test('the setting is named beside the rail', () => {
  const address = 'http://127.0.0.1:1';
  const environment = {
    OPERATOR_TOKEN: 'a-token-of-operators',
    MONGODB_URL: 'mongodb://127.0.0.1:1/',
    KAFKA_BROKERS: '127.0.0.1:1',
    SCHEMA_REGISTRY_URL: address,
    RAILS: JSON.stringify([upstreamRail({ name: 'open', url: address, publicKey: 'key' })]),
  };
  expect(() => parseConfig(settings, environment)).toThrow(/RAILS: open: anyone may bring its callbacks/);
  expect(() => parseConfig(settings, { ...environment, NODE_ENV: 'development' })).not.toThrow();
});
