import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import { type Poller, type PollerDeps, startPoller } from './poller.ts';
import { createUnknownReferences, type UnknownReferenceDeps } from './unknown-references.ts';

/** The parts that come from the settings and the metrics. */
type SuppliedHere = 'pauseMs' | 'polled' | 'claimed' | 'lookAtUnknown';

/** Starts the polling of every rail, and the check of unknown references, by the settings. */
export async function composePolling(
  scope: Pick<ServiceScope<z.output<typeof settings>>, 'config' | 'open'>,
  parts: Omit<PollerDeps, SuppliedHere> & Omit<UnknownReferenceDeps, 'openMax' | 'hidden'>,
  metrics: Pick<Metrics, 'hidden' | 'polled' | 'claimed'>,
): Promise<Poller> {
  const { config } = scope;
  const lookAtUnknown = createUnknownReferences({
    ...parts,
    openMax: config.UNKNOWN_REFERENCES_OPEN_MAX,
    hidden: metrics.hidden,
  });
  return scope.open(
    'poller',
    startPoller({
      ...parts,
      pauseMs: config.POLL_PAUSE_MS,
      polled: metrics.polled,
      claimed: metrics.claimed,
      lookAtUnknown,
    }),
  );
}
