import { describe, expect, it } from 'vitest';
import { topics } from './events/topics.ts';
import { type DeclaredMessaging, type Service, services } from './services.ts';

const all: readonly (readonly [string, Service])[] = Object.entries(services);
const uses: readonly (readonly [string, DeclaredMessaging])[] = all.flatMap(([name, { messaging }]) =>
  messaging ? [[name, messaging] as const] : [],
);

describe('the services', () => {
  it('share no port, and have their operations port next to the public one', () => {
    const ports = all.flatMap(([, { port, operationsPort }]) => [port, operationsPort]);
    expect(new Set(ports).size).toBe(ports.length);
    expect(all.filter(([, { port, operationsPort }]) => operationsPort !== port + 1)).toEqual([]);
  });

  it('share no database of their own', () => {
    const owned = uses.map(([, { database }]) => database);
    expect(new Set(owned).size).toBe(owned.length);
  });

  it('use every topic, and no topic twice', () => {
    const used = new Set(uses.flatMap(([, { produces, consumes }]) => [...produces, ...consumes]));
    expect([...used].toSorted()).toEqual(Object.keys(topics).toSorted());
    for (const [, { produces, consumes, readsOutsideGroup }] of uses) {
      expect(new Set(produces).size).toBe(produces.length);
      const read = [...consumes, ...readsOutsideGroup];
      expect(new Set(read).size).toBe(read.length);
    }
  });

  it('consume only what one of them produces', () => {
    const produced = new Set(uses.flatMap(([, { produces }]) => produces));
    expect(uses.flatMap(([, { consumes }]) => consumes).filter((topic) => !produced.has(topic))).toEqual([]);
  });

  it('consume nothing that they produce, but for the approved orders of the ledger', () => {
    const own = uses.flatMap(([name, { produces, consumes }]) =>
      consumes.filter((topic) => produces.includes(topic)).map((topic) => `${name} ${topic}`),
    );
    expect(own).toEqual(['ledger ledgerCommands']);
  });

  it('ask for the progress of others that consume, and call others that are public', () => {
    for (const [name, { asksProgressOf }] of uses) {
      expect(asksProgressOf).not.toContain(name);
      const followed = uses.filter(
        ([other, { consumes }]) => asksProgressOf.includes(other) && consumes.length > 0,
      );
      expect(followed.length).toBe(asksProgressOf.length);
    }
    for (const [, { calls }] of all) {
      expect(all.filter(([other, { isPublic }]) => calls.includes(other) && isPublic).length).toBe(
        calls.length,
      );
    }
  });
});
