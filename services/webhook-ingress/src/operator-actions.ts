import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { partOf, type ReadCallback } from '@pesewa/rails';
import { openCallbackWriter } from './callback-writer.ts';
import { type CallbackRail, readClaim } from './claim-reading.ts';
import { callbackKeys } from './domain/callback.ts';
import { dismiss, type Reread, redrive } from './domain/reception.ts';
import type { CallbackStore, StoredCallback } from './store.ts';

/** Why a callback was not processed again; `callback.dismissed`: it turned out not to be one. */
export type RedriveRefusal =
  | 'callback.unknown'
  | 'callback.unreadable'
  | 'callback.dismissed'
  | 'rail.unknown';

/** Why a callback was not dismissed. */
export type DismissRefusal = 'callback.unknown' | 'callback.not_failed';

/** The operators' actions. */
export interface OperatorActions {
  /** Processes a stored callback again, by its id: a failed one is read again, any other is published again. */
  readonly redrive: (id: string) => Promise<Result<'passed_on', RedriveRefusal>>;
  /** Dismisses a failed callback, which is then no longer listed as failed. */
  readonly dismiss: (id: string) => Promise<Result<'dismissed', DismissRefusal>>;
}

type ActionOutcome = 'passed_on' | 'failed' | 'dismissed' | 'not_failed';

interface Deps {
  readonly store: Pick<CallbackStore, 'load' | 'find' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly rail: (name: string) => CallbackRail | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Builds {@link OperatorActions}. */
export function createOperatorActions(deps: Deps): OperatorActions {
  const submit = openCallbackWriter<ActionOutcome>(deps);
  return {
    redrive: async (id) => {
      const stored = await deps.store.find(id);
      if (stored === undefined) return refuse('callback.unknown');
      const rail = deps.rail(stored.rail);
      const part = partOf(rail, stored.kind);
      if (rail === undefined || part === undefined) return refuse('rail.unknown');
      const read = reread(part.readCallback, stored);
      const nowMs = deps.clock.nowMs();
      const outcome = await submit({
        ...about(stored),
        // An earlier proof does not count if today's secrets and settings don't verify it.
        report: { ...reportable(stored), proven: rail.verifyCallback(stored).proven },
        decide: ({ first, own }) => {
          if (own === undefined) throw new Error('a stored callback is gone');
          return redrive({ first, own }, read, nowMs);
        },
      });
      if (outcome === 'passed_on') return accept(outcome);
      return refuse(outcome === 'dismissed' ? 'callback.dismissed' : 'callback.unreadable');
    },
    dismiss: async (id) => {
      const stored = await deps.store.find(id);
      if (stored === undefined) return refuse('callback.unknown');
      const outcome = await submit({
        ...about(stored),
        report: { ...reportable(stored), proven: false },
        decide: ({ first, own }) => {
          if (own === undefined) throw new Error('a stored callback is gone');
          const record = dismiss(own);
          return { outcome: record ? 'dismissed' : 'not_failed', first, own: record, passesOn: null };
        },
      });
      return outcome === 'dismissed' ? accept(outcome) : refuse('callback.not_failed');
    },
  };
}

function reread(read: ReadCallback, stored: StoredCallback): Reread {
  const reading = readClaim(read, stored);
  return reading.kind === 'broken' ? { kind: 'broken' } : reading;
}

function about(stored: StoredCallback) {
  return { ...callbackKeys(stored), callback: undefined, bytes: 0 };
}

function reportable({ rail, kind, digest }: StoredCallback) {
  return { rail, kind, digest };
}
