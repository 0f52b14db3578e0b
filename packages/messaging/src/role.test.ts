import { topics } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { checkHandlers, limitTo, roleOf, topicsWritten } from './role.ts';

const nothing = { topic: 'payouts.events.v1', partition: 0, end: 1n };

/** Answers any request. */
const anything = {
  database: (name: string) => ({ databaseName: name }),
  since: () => [],
  caughtUp: async () => true,
  ends: async () => [],
  hasApplied: async () => true,
} as unknown as Parameters<typeof limitTo>[1];

describe('the topics of handlers', () => {
  it('are those that the service is declared to consume', () => {
    const { consumes = [] } = roleOf('reconciler');
    const handlers = consumes.map((topic) => ({ topic }));
    checkHandlers(roleOf('reconciler'), handlers.toReversed());
    expect(() => checkHandlers(roleOf('reconciler'), handlers.slice(1))).toThrow(/is declared to consume/);
    expect(() => checkHandlers(roleOf('reconciler'), [...handlers, { topic: 'wallets' }])).toThrow(
      'reconciler consumes collections, ledger, payouts, railCallbacks, wallets, and is declared to consume',
    );
    expect(() => checkHandlers(roleOf('webhook-ingress'), [{ topic: 'payouts' }])).toThrow(/consume nothing/);
  });

  it('are not checked in a role that declares none', () => {
    const undeclared = { service: 'undeclared', database: 'undeclared', produces: [] };
    expect(() => checkHandlers(undeclared, [{ topic: 'payouts' }])).not.toThrow();
  });
});

it('a service writes to the topics that it produces', () => {
  const written = (service: Parameters<typeof roleOf>[0]) =>
    topicsWritten(roleOf(service)).map(({ name }) => name);
  expect(written('payout-gateway')).toEqual(['payouts.events.v1', 'rails.availability.v1']);
  expect(written('webhook-ingress')).toEqual(['rails.callbacks.v1']);
});

describe('what a service may use', () => {
  const ledger = limitTo(roleOf('ledger'), anything);
  const gateway = limitTo(roleOf('payout-gateway'), anything);

  it('are its own database and those that it is declared to read', () => {
    expect(ledger.database('directory')).toEqual({ databaseName: 'directory' });
    expect(ledger.database('ledger')).toEqual({ databaseName: 'ledger' });
    expect(() => ledger.database('payouts')).toThrow('ledger is not declared to read the database payouts');
  });

  it('are the topics that it reads, and the ends of those that it produces', async () => {
    expect(ledger.since('ledger', 0, 0)).toEqual([]);
    expect(() => ledger.since('wallets', 0, 0)).toThrow('ledger is not declared to read wallets');
    await expect(ledger.ends(['ledger', 'wallets'], 1)).resolves.toEqual([]);
    await expect(ledger.ends(['payoutFacts'], 1)).rejects.toThrow(
      'not declared to ask the ends of payoutFacts',
    );
    await expect(gateway.caughtUp(['webhooks'], 1)).rejects.toThrow('not declared');
  });

  it('are the groups whose progress it asks for, and its own', async () => {
    const reconciler = limitTo(roleOf('reconciler'), anything);
    await expect(reconciler.hasApplied('ledger', [nothing], 1)).resolves.toBe(true);
    await expect(reconciler.hasApplied('reconciler', [nothing], 1)).resolves.toBe(true);
    await expect(gateway.hasApplied('reconciler', [nothing], 1)).rejects.toThrow(
      'payout-gateway is not declared to ask for the progress of reconciler',
    );
  });

  it('is everything in a role that does not say', async () => {
    const free = limitTo({ service: 'undeclared', database: 'undeclared', produces: [] }, anything);
    expect(free.database('payouts')).toEqual({ databaseName: 'payouts' });
    await expect(free.ends(Object.keys(topics) as (keyof typeof topics)[], 1)).resolves.toEqual([]);
    await expect(free.hasApplied('ledger', [], 1)).resolves.toBe(true);
  });
});
