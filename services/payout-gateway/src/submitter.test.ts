import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import type { ClientSession } from 'mongodb';
import { expect, it } from 'vitest';
import { payout } from './app.fixture.ts';
import type { CausedCommand } from './payouts.ts';
import { startSubmitter } from './submitter.ts';

/**
 * Makes a payout due, in a process that is alive or was silent at the claim and at the call; gives what was claimed, what the
 * rail was asked, and what was recorded.
 */
async function makeDue(atClaim: boolean, atCall: boolean) {
  let isAlive = atClaim;
  const asked: string[] = [];
  const recorded: CausedCommand[] = [];
  let isAvailable = false;
  const submitter = startSubmitter({
    store: {} as unknown as Parameters<typeof startSubmitter>[0]['store'],
    payouts: { apply: async () => [] },
    messaging: {
      isAlive: () => isAlive,
      groupCommit: () => ({
        submit: async (item) => {
          recorded.push(item as unknown as CausedCommand);
          return undefined as never;
        },
      }),
    },
    rails: [
      {
        name: 'upstream',
        isAvailable: () => isAvailable,
        payouts: {
          submit: async ({ reference }) => {
            asked.push(reference);
            return { kind: 'acknowledged' };
          },
        },
      },
    ],
    concurrencyMax: 1,
    isPaused: () => false,
    pauseMs: 600_000,
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  // It does not search for payouts in the database.
  isAvailable = true;
  const actions: (() => void)[] = [];
  const [change] = submitter.claimDue([{ before: payout, after: { ...payout, step: 'held' } }], {
    session: {} as ClientSession,
    emit: () => undefined,
    afterCommit: (action) => void actions.push(action),
    afterRollback: () => undefined,
  });
  isAlive = atCall;
  for (const action of actions) action();
  await expect.poll(() => recorded).toHaveLength(atClaim ? 1 : 0);
  await submitter[Symbol.asyncDispose]();
  return { step: change?.after.step, asked, outcome: recorded[0]?.command };
}

it('calls a rail while its process is alive', async () => {
  const { asked, outcome } = await makeDue(true, true);
  expect(asked).toEqual([payout.reference]);
  expect(outcome).toMatchObject({ kind: 'recordAttempt', outcome: { kind: 'acknowledged' } });
});

it('calls none if its process was silent: its database may be in repair, and the rail is to be asked first', async () => {
  const { asked, outcome } = await makeDue(true, false);
  expect(asked).toEqual([]);
  expect(outcome).toMatchObject({ kind: 'recordAttempt', outcome: { kind: 'notSent' } });
});

it('claims none while its process is silent: another may send it, and the end of its earlier life may be unknown here', async () => {
  expect(await makeDue(false, false)).toEqual({ step: 'held', asked: [], outcome: undefined });
});
