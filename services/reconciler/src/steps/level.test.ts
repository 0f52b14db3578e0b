import type { TopicEnd } from '@pesewa/messaging';
import { describe, expect, it } from 'vitest';
import type { Sender, Waiting } from '../on-its-way.ts';
import { createLevel } from './level.ts';

/** Two hops; the test sets what waits in outboxes and what each service has applied, and sees what is asked when. */
function open() {
  const applied: Record<string, boolean | undefined> = { ledger: false, gateway: false };
  const outboxes: Record<string, readonly string[] | undefined> = { payouts: [], ledger: [] };
  const asked: string[] = [];
  const clock = { ms: 0 };
  const messaging = {
    ends: async (topics: readonly string[]): Promise<readonly TopicEnd[]> => {
      asked.push(topics.join());
      return [];
    },
    hasApplied: async (service: string) => applied[service],
  };
  const onItsWay = {
    waiting: async (of: readonly Sender[]) => {
      const found = of.map((one) => ({ of: one, outboxRecords: outboxes[one] }));
      return found.some(({ outboxRecords }) => outboxRecords === undefined)
        ? undefined
        : (found as readonly Waiting[]);
    },
    hasLeft: async (waiting: readonly Waiting[]) =>
      waiting.every(({ of, outboxRecords }) => outboxRecords.every((id) => !outboxes[of]?.includes(id))),
  };
  const level = createLevel({ messaging, onItsWay, clock: { nowMs: () => clock.ms } }, [
    { from: ['payouts'], topics: ['payouts'], by: 'ledger' },
    { from: ['ledger'], topics: ['ledger'], by: 'gateway' },
  ]);
  const at = (ms: number) => {
    clock.ms = ms;
    return level();
  };
  return { applied, outboxes, asked, at };
}

describe('what is level', () => {
  it('is the time of which all has gone its whole way, hop by hop', async () => {
    const { applied, asked, at } = open();
    expect(await at(1_000)).toBeUndefined();
    applied['ledger'] = true;
    expect(await at(2_000)).toBeUndefined();
    expect(asked).toEqual(['payouts', 'ledger']);
    applied['gateway'] = true;
    expect(await at(3_000)).toBe(1_000);
    expect(await at(4_000)).toBe(4_000);
  });

  it('starts anew if Kafka did not answer', async () => {
    const { applied, asked, at } = open();
    applied['ledger'] = undefined;
    expect(await at(1_000)).toBeUndefined();
    Object.assign(applied, { ledger: true, gateway: true });
    expect(await at(2_000)).toBe(2_000);
    expect(asked).toEqual(['payouts', 'payouts', 'ledger']);
  });

  it('is not reached while what waited in an outbox waits there, whatever has come since', async () => {
    const { applied, outboxes, asked, at } = open();
    Object.assign(applied, { ledger: true, gateway: true });
    outboxes['payouts'] = ['a#1', 'a#2'];
    expect(await at(1_000)).toBeUndefined();
    outboxes['payouts'] = ['a#2', 'a#3'];
    expect(await at(2_000)).toBeUndefined();
    expect(asked).toEqual([]);
    outboxes['payouts'] = ['a#3'];
    expect(await at(3_000)).toBe(1_000);
  });

  it('is not reached while what a service has made of it waits in its outbox', async () => {
    const { applied, outboxes, asked, at } = open();
    Object.assign(applied, { ledger: true, gateway: true });
    outboxes['ledger'] = ['l#1'];
    expect(await at(1_000)).toBeUndefined();
    expect(asked).toEqual(['payouts']);
    outboxes['ledger'] = [];
    expect(await at(2_000)).toBe(1_000);
  });

  it('starts anew if it is unknown what waits', async () => {
    const { applied, outboxes, at } = open();
    Object.assign(applied, { ledger: true, gateway: true });
    outboxes['payouts'] = undefined;
    expect(await at(1_000)).toBeUndefined();
    outboxes['payouts'] = [];
    expect(await at(2_000)).toBe(2_000);
  });
});
