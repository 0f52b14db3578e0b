import type { Clock } from '@pesewa/kernel';
import { createTokenBucket, type TokenBucket } from '@pesewa/rails';

/** Builds the function that counts each rail's callbacks against a number per second; false if the rate is exceeded. */
export function createRates(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly rails: readonly { readonly name: string }[];
  readonly perSecondMax: number;
}): (rail: string) => boolean {
  const { clock, perSecondMax } = options;
  const buckets = new Map<string, TokenBucket>(
    options.rails.map(({ name }) => [name, createTokenBucket({ clock, perSecondMax, waitMsMax: 0 })]),
  );
  return (rail) => buckets.get(rail)?.take().granted ?? false;
}
