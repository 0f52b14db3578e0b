import type { PayoutChannel } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import { callDeadlineMs } from './call-deadlines.ts';
import type { RailSettings } from './define-connector.ts';
import { createGuard } from './guard.ts';
import { createHttpTransport, type Transport } from './http-transport.ts';
import { createRailMetrics, instrumentRail } from './instrumented-rail.ts';
import { type CollectionRail, type PayoutRail, type Rail, takesCollections, takesPayouts } from './rail.ts';

/** The configured rails with their connections, which are closed by disposing of them. */
export type Rails = ReturnType<typeof openRails>;

/** Opens every configured rail, each with its own limits and connections. */
export function openRails(
  settings: readonly RailSettings[],
  dependencies: {
    readonly clock: Clock;
    readonly logger?: Pick<Logger, 'warn' | 'info'> | undefined;
    /** The network; undici by default. */
    readonly transport?: Transport | undefined;
    /** The registry for the metrics of calls and circuits. */
    readonly registry?: Registry | undefined;
  },
) {
  const { clock, logger, registry } = dependencies;
  const metrics = registry && createRailMetrics(registry);
  const resources = new AsyncDisposableStack();
  const all = settings.map((rail) => {
    const transport = dependencies.transport ?? resources.use(openNetwork(rail)).transport;
    const guard = createGuard({ settings: rail, clock, transport, logger });
    metrics?.watch(rail.name, guard.circuit);
    const connector = {
      name: rail.name,
      capabilities: {
        callbacks: rail.callbacks,
        polling: { perSecondMax: rail.pollsPerSecondMax, concurrencyMax: rail.pollConcurrencyMax },
        sendsStatements: rail.sendsStatements,
        callDeadlineMs: callDeadlineMs(rail),
      },
      isAvailable: guard.isAvailable,
      ...rail.connect({ guard, clock, logger }),
    };
    return instrumentRail(connector, { metrics, clock });
  });
  const byName = new Map(all.map((rail) => [rail.name, rail]));
  return {
    all,
    get: (name: string): Rail | undefined => byName.get(name),
    /**
     * The rails that serve a payout, in configured order; without a channel, those of any channel. The country has three
     * letters.
     */
    railsFor: ({
      country,
      currency,
      channel,
    }: {
      readonly country: string;
      readonly currency: string;
      readonly channel?: PayoutChannel | undefined;
    }): readonly PayoutRail[] =>
      all
        .filter(takesPayouts)
        .filter(({ payouts }) =>
          payouts.routes.some(
            (route) =>
              route.country === country &&
              route.currency === currency &&
              (channel === undefined || route.channels.includes(channel)),
          ),
        ),
    routeCollection: ({ operatorCode }: { readonly operatorCode: string }): CollectionRail | undefined =>
      all
        .filter(takesCollections)
        .find(({ collections }) => collections.operatorCodes.includes(operatorCode)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function openNetwork(settings: RailSettings) {
  return createHttpTransport({
    monotonicMs: () => performance.now(),
    connectionsMax: settings.concurrencyMax,
    connectTimeoutMs: settings.timeoutMs,
  });
}
