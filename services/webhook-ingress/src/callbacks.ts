import { accept, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import type { RailConnector } from '@pesewa/rails';
import { type Callback, type CallbackRequest, keptHeaders } from './domain/callback.ts';
import type { CallbackEvents } from './events.ts';
import type { CallbackStore } from './store.ts';

/** Why a callback is not taken. */
export type CallbackRefusal = 'callback.unknown_rail' | 'callback.malformed';

/** What became of a callback that was taken. */
export type CallbackOutcome = 'stored' | 'repeated';

/** What the ingress does: makes callbacks durable, and tells of each once. */
export interface Callbacks {
  readonly isRail: (name: string) => boolean;
  /** Resolves once the callback is stored for good; rejects where that is not known (the rail sends it again). */
  readonly receive: (request: CallbackRequest) => Promise<Result<CallbackOutcome, CallbackRefusal>>;
}

/** Builds {@link Callbacks}. */
export function createCallbacks(deps: {
  readonly store: CallbackStore;
  readonly events: CallbackEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => Pick<RailConnector, 'translateCallback' | 'provesCallback'> | undefined;
  readonly ids: Ids;
}): Callbacks {
  const { store, events } = deps;
  const accepting = deps.messaging.groupCommit<Callback, CallbackOutcome>(
    'callbacks.accept',
    async (callbacks, transaction) => {
      const fresh = await store.insert(callbacks, transaction.session);
      for (const [index, callback] of callbacks.entries()) {
        if (fresh[index] === true) transaction.emit(events.received(callback));
      }
      return fresh.map((isFresh) => (isFresh ? 'stored' : 'repeated'));
    },
  );

  return {
    isRail: (name) => deps.rail(name) !== undefined,
    receive: async (arrived) => {
      const rail = deps.rail(arrived.rail);
      if (!rail) return refuse('callback.unknown_rail');
      const request = { ...arrived, headers: keptHeaders(arrived.headers) };
      const text = readUtf8(request.body);
      const claim = text === undefined ? undefined : rail.translateCallback(request.kind, text);
      if (text === undefined || claim?.ok !== true) {
        await store.insertRejected(request);
        return refuse('callback.malformed');
      }
      const headers = Object.fromEntries(arrived.headers.map(({ name, value }) => [name, value]));
      const { reference, claimedStatus, claimedAmount, claimedFee, claimedReason } = claim.value;
      const outcome = await accepting.submit({
        ...request,
        id: deps.ids.next('cb'),
        verdict: rail.provesCallback(headers, text) ? 'proven' : 'hint',
        claim: {
          reference,
          status: claimedStatus,
          amount: claimedAmount,
          fee: claimedFee,
          reason: claimedReason,
        },
      });
      return accept(outcome);
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
