import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import { type Poller, type PollerDeps, startPoller } from './poller.ts';
import { createUnknownReferences, type UnknownReferenceDeps } from './unknown-references.ts';

/** Starts the polling of every rail, and the check of unknown references, by the settings. */
export async function composePolling(
  { config, open }: Pick<ServiceScope<z.output<typeof settings>>, 'config' | 'open'>,
  parts: Omit<PollerDeps, 'pauseMs' | 'lookAtUnknown' | keyof Metrics> &
    Omit<UnknownReferenceDeps, 'openMax' | 'hidden'>,
  metrics: Pick<Metrics, 'hidden' | 'polled' | 'claimed'>,
): Promise<Poller> {
  const openMax = config.UNKNOWN_REFERENCES_OPEN_MAX;
  const lookAtUnknown = createUnknownReferences({ ...parts, openMax, hidden: metrics.hidden });
  const pauseMs = config.POLL_PAUSE_MS;
  return open('poller', startPoller({ ...parts, ...metrics, pauseMs, lookAtUnknown }));
}
