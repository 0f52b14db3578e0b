import type { Directory } from '@pesewa/directory';
import type { Clock } from '@pesewa/kernel';
import { type Loop, type Messaging, startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { type EndpointHealth, ownAddressOf } from './endpoint-health.ts';
import { namesOf } from './events.ts';
import type { HealthDocument, HealthStore } from './health-store.ts';
import type { DeliveryStore } from './store.ts';

/** After how long at most every process knows that an endpoint was disabled or enabled. */
const WATCH_PAUSE_MS = 10_000;

/** The dependencies of {@link startEndpointWatch}. */
export interface EndpointWatchDeps {
  readonly store: Pick<DeliveryStore, 'keep' | 'release' | 'deferredBulkheads'>;
  readonly health: Pick<HealthStore, 'find'>;
  readonly endpoints: EndpointHealth;
  readonly directory: Pick<Directory, 'find'>;
  readonly messaging: Pick<Messaging, 'inTransaction'>;
  /** Called when deliveries have become due. */
  readonly becameDue: () => void;
  readonly pauseMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps up with the health that all processes record. Each round looks at what is the case, not at what has changed, so
 * that a crash anywhere leaves nothing for ever: the deliveries of disabled endpoints are kept, all others are made due.
 */
export async function startEndpointWatch(deps: EndpointWatchDeps): Promise<Loop> {
  let disabledBefore: ReadonlySet<string> = new Set();
  // Nothing may be sent to a disabled endpoint, not even right after the start.
  await deps.endpoints.refresh();
  return startLoop({
    name: 'webhook endpoints',
    pauseMs: deps.pauseMs ?? WATCH_PAUSE_MS,
    clock: deps.clock,
    logger: deps.logger,
    round: async () => {
      const disabled = await deps.endpoints.refresh();
      await deps.messaging.inTransaction((transaction) =>
        deps.endpoints.recordMissed(deps.clock.nowMs(), transaction),
      );
      const kept = new Set<string>();
      for (const document of disabled)
        if (await keepDisabled(deps, document, disabledBefore.has(document._id))) kept.add(document._id);
      disabledBefore = kept;
      await releaseEnabled(deps);
      return false;
    },
  });
}

/** Keeps what a disabled endpoint is owed, unless that was done; false if it failed, which must not hold up the others. */
async function keepDisabled(
  deps: EndpointWatchDeps,
  document: HealthDocument,
  isKept: boolean,
): Promise<boolean> {
  try {
    const isEnabled = await isMoved(deps, document);
    // Later ones are kept one by one, by the loop that claims them, but for those given up by attempts under way.
    if (isEnabled || !isKept) await deps.store.keep(document._id, document.failingSince);
    if (isEnabled) await enableMoved(deps, document);
    return true;
  } catch (error) {
    deps.logger.error(
      { err: error, endpoint: document._id },
      'a disabled endpoint: its webhooks are kept in a later round',
    );
    return false;
  }
}

/** Whether the merchant has another address now than the one that was disabled. */
async function isMoved({ directory }: EndpointWatchDeps, document: HealthDocument): Promise<boolean> {
  if (document.address === null) return false;
  const merchant = await directory.find(namesOf(document._id).merchantId);
  const address = merchant && ownAddressOf(document._id, merchant);
  return address !== undefined && address !== document.address;
}

async function enableMoved(deps: EndpointWatchDeps, { _id }: HealthDocument): Promise<void> {
  await deps.messaging.inTransaction((transaction) =>
    deps.endpoints.enable(_id, null, deps.clock.nowMs(), transaction),
  );
}

async function releaseEnabled({ store, health, clock, becameDue }: EndpointWatchDeps): Promise<void> {
  const deferred = await store.deferredBulkheads();
  if (deferred.length === 0) return;
  const known = await health.find(deferred);
  for (const endpoint of deferred.filter((one) => known.get(one)?.state !== 'disabled')) {
    let isDone = false;
    while (!isDone) isDone = await store.release(endpoint, clock.nowMs());
    becameDue();
  }
}
