import { systemClock } from '@pesewa/kernel';
import type { CollectionWish, MerchantClient } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';

/** A merchant's side of collections that does what it must where a request breaks (contract 2.9, 4.9). */
export interface CollectingMerchant {
  /** The code of a status check; one of `25` after the collection was known is remembered. */
  readonly check: (wish: CollectionWish) => Promise<string>;
  /** Initiates a collection until the hub knows it: after a broken request it checks the status, and asks again on `25`. */
  readonly initiate: (wish: CollectionWish) => Promise<void>;
  /** Completes a collection until that is taken, or the collection has ended. */
  readonly complete: (wish: CollectionWish, otpCode: string | undefined) => Promise<void>;
  /** The references of collections that were known once and denied later (P9). */
  readonly denied: () => readonly string[];
}

/** The pause of a client before it asks again. */
const PAUSE_MS = 300;

/** Builds a {@link CollectingMerchant} over a client that gives up after one try. */
export function createCollectingMerchant(demo: MerchantClient, patienceMs: number): CollectingMerchant {
  const known = new Set<string>();
  const denied = new Set<string>();

  /** Repeats until it succeeds; unlike a test that looks, a client pauses in between. */
  const insist = async (attempt: () => Promise<void>) => {
    let pauseMs = 0;
    await eventually(async () => {
      if (pauseMs > 0) await systemClock.sleep(pauseMs);
      pauseMs = PAUSE_MS;
      await attempt();
    }, patienceMs);
  };

  const check = async (wish: CollectionWish) => {
    const { responseCode } = await demo.checkCollection(wish);
    if (responseCode !== '25') known.add(wish.reference);
    else if (known.has(wish.reference)) denied.add(wish.reference);
    return responseCode;
  };

  return {
    check,
    initiate: async (wish) => {
      let broken = false;
      await insist(async () => {
        if (broken && (await check(wish)) !== '25') return;
        broken = true;
        const { responseDetails } = await demo.initiateCollection(wish);
        if (responseDetails.responseCode === '09') known.add(wish.reference);
        // Refused: for a repeat it is there, and an unclear one is asked for again.
        else expect(await check(wish), responseDetails.failedReason).not.toBe('25');
      });
    },
    complete: (wish, otpCode) =>
      insist(async () => {
        const { responseDetails } = await demo.completeCollection(wish, otpCode);
        if (responseDetails.responseCode === '09') return;
        expect(await check(wish), responseDetails.failedReason).not.toBe('09');
      }),
    denied: () => [...denied],
  };
}
