import type { Messaging, Recovery } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock, eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { createRecoveryGate } from './recovery-gate.ts';

const logger = createLogger({ name: 'test', level: 'silent' });

/** A gate over facts that the test can change; `looks` counts how often they were read. */
function gateOver(known: { recovery: Recovery | Error; booked?: boolean; applied?: boolean }) {
  const seen = { looks: 0, opened: 0, ends: 0, details: [] as (() => string | undefined)[] };
  const messaging: Pick<Messaging, 'recovery' | 'ends' | 'hasApplied' | 'caughtUp'> = {
    recovery: async () => {
      seen.looks += 1;
      if (known.recovery instanceof Error) throw known.recovery;
      return known.recovery;
    },
    // More events are published all the time.
    ends: async () => [{ topic: 'payouts.events.v1', partition: 0, end: 7n + BigInt(seen.ends++) }],
    hasApplied: async (service, [end]) => service === 'ledger' && end?.end === 7n && known.booked === true,
    caughtUp: async ([name]) => name === 'ledger' && known.applied === true,
  };
  const gate = createRecoveryGate({
    messaging,
    health: { addDetail: (_name, detail) => void seen.details.push(detail) },
    clock: createAutoAdvancingClock(),
    logger,
  });
  return { gate, seen, watch: () => gate.watch(() => void (seen.opened += 1)) };
}

/** Waits for two more complete rounds. */
async function looksAgain(seen: { readonly looks: number }): Promise<void> {
  const { looks } = seen;
  await eventually(() => expect(seen.looks).toBeGreaterThan(looks + 2));
}

it('opens at once without a sign of a restored database, whatever the ledger does', async () => {
  const { gate, seen, watch } = gateOver({ recovery: 'current' });
  expect(gate.isOpen()).toBe(false);
  expect(seen.details.map((detail) => detail())).toEqual([expect.stringContaining('no payout is sent')]);
  await using _watching = watch();
  await eventually(() => expect(seen.opened).toBe(1));
  expect(gate.isOpen()).toBe(true);
  expect(seen.looks).toBe(1);
  expect(seen.details.map((detail) => detail())).toEqual([undefined]);
});

it('stays shut while that is unknown', async () => {
  const known: { recovery: Recovery | Error } = { recovery: new Error('Kafka is away') };
  const { gate, seen, watch } = gateOver(known);
  await using _watching = watch();
  await looksAgain(seen);
  expect(gate.isOpen()).toBe(false);
  known.recovery = 'current';
  await eventually(() => expect(gate.isOpen()).toBe(true));
});

it('stays shut until an older database has applied the ledger’s answers to everything it had published', async () => {
  const known = { recovery: 'older' as Recovery, booked: false, applied: false };
  const { gate, seen, watch } = gateOver(known);
  await using _watching = watch();
  await looksAgain(seen);
  expect(seen.ends).toBe(0);
  known.recovery = 'behind';
  await looksAgain(seen);
  known.booked = true;
  await looksAgain(seen);
  expect(gate.isOpen()).toBe(false);
  expect(seen.opened).toBe(0);
  known.applied = true;
  await eventually(() => expect(gate.isOpen()).toBe(true));
  expect(seen.opened).toBe(1);
});

it('waits in a process that started after the realignment as well', async () => {
  const known = { recovery: 'behind' as Recovery, booked: false, applied: true };
  const { gate, seen, watch } = gateOver(known);
  await using _watching = watch();
  await looksAgain(seen);
  expect(gate.isOpen()).toBe(false);
  known.booked = true;
  await eventually(() => expect(gate.isOpen()).toBe(true));
});

it('ends with its process, open or not', async () => {
  const { gate, watch } = gateOver({ recovery: 'older' });
  await watch()[Symbol.asyncDispose]();
  expect(gate.isOpen()).toBe(false);
});
