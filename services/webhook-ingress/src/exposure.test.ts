import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { noteUnauthenticatedRails } from './exposure.ts';

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
    noteUnauthenticatedRails({ rails, isProduction, logger, registry });
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
