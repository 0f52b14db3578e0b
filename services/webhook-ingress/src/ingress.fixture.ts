import { type Clock, createIds, type Random } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import { openRails, railSettings } from '@pesewa/rails';
import { createLogger } from '@pesewa/runtime';
import { createWebhookSecret, signWebhook } from '@pesewa/signatures';
import { createApp } from './app.ts';
import { createCallbacks } from './callbacks.ts';
import type { Callback, JudgedRequest } from './domain/callback.ts';
import type { CallbackRecord } from './domain/reception.ts';
import { createCallbackEvents } from './events.ts';
import type { CallbackRail } from './reading.ts';
import type { CallbackStore } from './store.ts';

/** A moment at which the tests' clock stands until it is moved. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
/** A payout of ours, by its reference's form. */
export const REFERENCE = `po-${'0123456789abcdef'.repeat(2)}`;

/** A secret that is always the same for one number. */
export const secretOf = (byte: number): string =>
  createWebhookSecret({ bytes: (length) => new Uint8Array(length).fill(byte) });

/** The body of a payout's callback (contract 6.1). */
export const payoutBody = (data: object = {}): string =>
  JSON.stringify({
    data: {
      transactionStatus: 'COMPLETED',
      merchantReference: REFERENCE,
      transactionReference: 'R-1',
      amount: 20.5,
      feeAmount: 0.1,
      valueAmount: 20.6,
      statusReason: 'Successful',
      ...data,
    },
  });

/** The headers of a signed callback. */
export const signed = (
  body: string,
  change: { readonly secrets?: readonly string[]; readonly id?: string; readonly awaySeconds?: number } = {},
): Record<string, string> => ({
  ...signWebhook({
    id: change.id ?? 'msg-1',
    timestamp: START_MS / 1_000 + (change.awaySeconds ?? 0),
    body,
    secrets: change.secrets ?? [secretOf(1)],
  }),
});

/** A clock that moves only when told; its sleepers wake only when told to give up. */
export function createTestClock() {
  const clock = {
    now: START_MS,
    nowMs: () => clock.now,
    sleep: (_durationMs: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  return clock;
}

/** Faults that a test turns on and off. */
export interface Faults {
  store?: Error | undefined;
  translation?: Error | undefined;
}

interface Options {
  /** The settings of the rail `upstream`, beyond the least. */
  readonly rail?: object;
  readonly trustedProxies?: number;
  /** Faults may be changed while the ingress runs. */
  readonly faults?: Faults;
  readonly repassAfterMs?: number;
}

/** The rails `upstream`, with settings beyond the least, and `other`, whose reading of callbacks a fault breaks. */
export function openTestRails(options: {
  readonly rail?: object | undefined;
  readonly clock: Clock;
  readonly faults: Faults;
}): (name: string) => CallbackRail | undefined {
  const { clock, faults } = options;
  const least = {
    connector: 'upstream',
    transferUrl: 'http://rail.test',
    collectionsUrl: 'http://rail.test',
    publicKey: 'pesewa',
  };
  const settings = [
    { ...least, name: 'upstream', ...options.rail },
    { ...least, name: 'other', callbackSecrets: [secretOf(9)] },
  ];
  const rails = openRails(railSettings.parse(JSON.stringify(settings)), {
    clock,
    exchange: () => Promise.reject(new Error('no rail is asked')),
  });
  return (name) => {
    const rail = rails.get(name);
    if (rail === undefined) return undefined;
    return {
      ...rail,
      translateCallback: (kind, text) => {
        if (faults.translation) throw faults.translation;
        return rail.translateCallback(kind, text);
      },
    };
  };
}

/** An ingress with real rails over a store in memory; notes what was committed. */
export function openIngress(options: Options = {}) {
  const faults = options.faults ?? {};
  const clock = createTestClock();
  let chance = 0;
  const random: Random = {
    fraction: () => 0,
    bytes: (length) => new Uint8Array(length).fill((chance += 1)),
  };
  const ids = createIds(clock, random);
  const memory = createMemoryStore(faults);
  const logger = createLogger({ name: 'test', level: 'silent' });
  const warned: unknown[] = [];
  const emitted: OutgoingEvent[] = [];
  const callbacks = createCallbacks({
    store: memory.store,
    events: createCallbackEvents({ ids, clock }),
    ids,
    clock,
    logger: {
      error: (...line: unknown[]) => void warned.push(line),
      warn: (...line: unknown[]) => void warned.push(line),
    },
    repassAfterMs: options.repassAfterMs ?? 60_000,
    messaging: {
      groupCommit: (_name, apply) => ({
        submit: async (item) => {
          const events: OutgoingEvent[] = [];
          const transaction = {
            session: undefined as never,
            emit: (event: OutgoingEvent) => void events.push(event),
            afterCommit: () => undefined,
          };
          const [outcome] = await apply([item], transaction, false);
          emitted.push(...events);
          return outcome as never;
        },
      }),
    },
    rail: openTestRails({ rail: options.rail, clock, faults }),
  });
  const counted: { readonly result: string; readonly reason: string }[] = [];
  const app = createApp({
    callbacks,
    clock,
    logger,
    metrics: {
      answered: ({ result, reason }) => void counted.push({ result, reason }),
      durableAfter: () => undefined,
    },
    storeTimeoutMs: 1_000,
    trustedProxies: options.trustedProxies ?? 0,
  });
  const post = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> | [string, string][] = {},
    peerAddress?: string,
  ) =>
    app.request(
      path,
      { method: 'POST', body, headers: new Headers(headers) },
      peerAddress === undefined ? {} : { incoming: { socket: { remoteAddress: peerAddress } } },
    );
  return { app, post, callbacks, clock, emitted, counted, warned, ...memory };
}

function createMemoryStore(faults: Faults) {
  const stored = new Map<string, Callback>();
  const records = new Map<string, CallbackRecord>();
  const rejected: (JudgedRequest & { readonly reason: string })[] = [];
  const check = () => {
    if (faults.store) throw faults.store;
  };
  const store: Pick<CallbackStore, 'load' | 'find' | 'save' | 'insertRejected'> = {
    load: async (keys) => {
      check();
      return new Map([...records].filter(([key]) => keys.includes(key)));
    },
    find: async (id) => {
      const [key, callback] = [...stored].find(([, one]) => one.id === id) ?? [];
      return key !== undefined && callback ? { key, ...callback } : undefined;
    },
    save: async (changes) => {
      for (const [key, callback] of changes.fresh) stored.set(key, callback);
      for (const [key, record] of changes.records) records.set(key, record);
    },
    insertRejected: async (request, reason) => {
      check();
      rejected.push({ ...request, reason });
    },
  };
  return { store, stored, records, rejected };
}
