import { systemClock } from '@pesewa/kernel';
import type { CollectionRequest, MerchantClient } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';

/** A merchant that collects, and retries broken requests as the contract requires (contract 2.9, 4.9). */
export interface CollectingMerchant {
  /** The code of a status check; a `25` for a collection that was already known is recorded. */
  readonly check: (request: CollectionRequest) => Promise<string>;
  /** Initiates a collection until the hub knows it; after a broken request it checks the status and retries on `25`. */
  readonly initiate: (request: CollectionRequest) => Promise<void>;
  /** Completes a collection until the completion is accepted or the collection has ended. */
  readonly complete: (request: CollectionRequest, otpCode: string | undefined) => Promise<void>;
  /** The references of collections that the hub knew and later answered as unknown (P9). */
  readonly denied: () => readonly string[];
}

/** The pause of a client before it retries. */
const PAUSE_MS = 300;

/** Builds a {@link CollectingMerchant} over a client that gives up after one try. */
export function createCollectingMerchant(demo: MerchantClient, deadlineMs: number): CollectingMerchant {
  const known = new Set<string>();
  const denied = new Set<string>();

  /** Repeats until it succeeds, with a client's pause in between. */
  const insist = async (attempt: () => Promise<void>) => {
    let pauseMs = 0;
    await eventually(async () => {
      if (pauseMs > 0) await systemClock.sleep(pauseMs);
      pauseMs = PAUSE_MS;
      await attempt();
    }, deadlineMs);
  };

  const check = async (request: CollectionRequest) => {
    const { responseCode } = await demo.checkCollection(request);
    if (responseCode !== '25') known.add(request.reference);
    else if (known.has(request.reference)) denied.add(request.reference);
    return responseCode;
  };

  return {
    check,
    initiate: async (request) => {
      let broken = false;
      await insist(async () => {
        if (broken && (await check(request)) !== '25') return;
        broken = true;
        const { responseDetails } = await demo.initiateCollection(request);
        if (responseDetails.responseCode === '09') known.add(request.reference);
        // It was refused: a repeated collection already exists, and an unclear one is retried.
        else expect(await check(request), responseDetails.failedReason).not.toBe('25');
      });
    },
    complete: (request, otpCode) =>
      insist(async () => {
        const { responseDetails } = await demo.completeCollection(request, otpCode);
        if (responseDetails.responseCode === '09') return;
        expect(await check(request), responseDetails.failedReason).not.toBe('09');
      }),
    denied: () => [...denied],
  };
}
