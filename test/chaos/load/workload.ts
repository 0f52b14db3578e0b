import type { Clock } from '@pesewa/kernel';
import type { Act } from '../plan/plan.ts';
import type { HistoryClient } from './client.ts';

/** How long a merchant pauses before it asks again: at first, and at most, since the pause doubles. */
const PAUSE_MS = 700;
const PAUSE_MAX_MS = 5_600;
/** How often it asks before it gives up: beyond every fault of a run. */
const TRIES_MAX = 40;
/** How often it completes a collection, and how long it looks for the end of it each time. */
const COMPLETION_ROUNDS = 3;
const LOOKS_PER_ROUND = 4;
const LOOK_PAUSE_MS = 2_500;

/**
 * Plays the merchants' actions, each at its time, and resolves once every merchant has its answers.
 *
 * A merchant does what the contract requires: after an unclear answer it asks again with the same reference.
 */
export async function playActs(
  acts: readonly Act[],
  deps: { readonly clientOf: (merchantId: string) => HistoryClient; readonly clock: Clock },
): Promise<void> {
  const { clock } = deps;
  const startedAtMs = clock.nowMs();
  const insist = createInsist(clock);
  await Promise.all(
    acts.map(async (act) => {
      await clock.sleep(Math.max(0, startedAtMs + act.atMs - clock.nowMs()));
      const client = deps.clientOf(act.merchantId);
      switch (act.kind) {
        case 'payout':
          return playPayout(act, client, insist);
        case 'batch':
          return playBatch(act, client, insist);
        case 'collection':
          return playCollection(act, client, { insist, clock });
      }
    }),
  );
}

type Insist = (attempt: () => Promise<boolean>) => Promise<void>;

/** Repeats until it is done, or the merchant gives up. */
function createInsist(clock: Clock): Insist {
  return async (attempt) => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      if (await attempt()) return;
      await clock.sleep(Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** tries));
    }
  };
}

async function playPayout(
  { request, times, next }: Extract<Act, { readonly kind: 'payout' }>,
  client: HistoryClient,
  insist: Insist,
): Promise<void> {
  const submit = () => insist(async () => (await client.submitPayout(request)) !== 'ambiguous');
  await Promise.all(Array.from({ length: times }, submit));
  await client.lookUpPayout(request.reference);
  if (next === 'repeat') await submit();
  if (next === 'other')
    await insist(async () => (await client.submitPayout({ ...request, amount: '61.5' })) !== 'ambiguous');
  await client.lookUpPayout(request.reference);
}

async function playBatch(
  { reference, requests }: Extract<Act, { readonly kind: 'batch' }>,
  client: HistoryClient,
  insist: Insist,
): Promise<void> {
  await insist(async () => (await client.submitBatch(reference, requests)) !== 'ambiguous');
  for (const item of new Set([requests.at(0), requests.at(-1)]))
    if (item) await client.lookUpPayout(item.reference);
}

async function playCollection(
  act: Extract<Act, { readonly kind: 'collection' }>,
  client: HistoryClient,
  { insist, clock }: { readonly insist: Insist; readonly clock: Clock },
): Promise<void> {
  const { request, times, next, otp, wrongCodes } = act;
  const initiate = () => insist(async () => (await client.initiate(request)) !== 'ambiguous');
  await Promise.all(Array.from({ length: times }, initiate));
  await client.check(request);
  if (next === 'repeat') await initiate();
  if (next === 'other')
    await insist(async () => (await client.initiate({ ...request, amount: '65' })) !== 'ambiguous');
  if (otp === undefined) return;
  for (let tried = 0; tried < wrongCodes; tried += 1)
    await client.complete(request, '0'.repeat(otp?.length ?? 4));
  const isOver = async () => {
    const { outcome, isEnded } = await client.check(request);
    return isEnded || outcome === 'unknown';
  };
  for (let round = 0; round < COMPLETION_ROUNDS; round += 1) {
    await insist(async () => (await client.complete(request, otp ?? undefined)) !== 'ambiguous');
    // An accepted completion may have been lost on its way to the rail, and a refused one may have come too early.
    for (let looked = 0; looked < LOOKS_PER_ROUND; looked += 1) {
      if (await isOver()) return;
      await clock.sleep(LOOK_PAUSE_MS);
    }
  }
}
