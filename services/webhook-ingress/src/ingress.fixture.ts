import { Readable } from 'node:stream';
import { createAddressList } from '@pesewa/addresses';
import { accept, type Clock, createIds, type Random, refuse } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import { openRails, type ReadCallback, railSettings, upstreamRail } from '@pesewa/rails';
import { createLogger } from '@pesewa/runtime';
import { createWebhookSecret, signWebhook } from '@pesewa/signatures';
import { createApp } from './app.ts';
import { createCallbacks, createRates } from './callbacks.ts';
import type { CallbackRail } from './claim-reading.ts';
import type { Callback, CheckedRequest } from './domain/callback.ts';
import type { CallbackRecord } from './domain/reception.ts';
import type { CallbackStore } from './store.ts';

/** The time of the tests' clock until a test moves it. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
/** A payout of ours, by its reference's form. */
export const REFERENCE = `po-${'0123456789abcdef'.repeat(2)}`;

/** A secret that is always the same for the same number. */
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

interface Signing {
  readonly secrets?: readonly string[];
  readonly id?: string;
  readonly awaySeconds?: number;
}

/** The headers of a callback that is signed at a moment. */
export const signedAt = (nowMs: number, body: string, change: Signing = {}): Record<string, string> => ({
  ...signWebhook({
    id: change.id ?? 'msg-1',
    timestamp: Math.floor(nowMs / 1_000) + (change.awaySeconds ?? 0),
    body,
    secrets: change.secrets ?? [secretOf(1)],
  }),
});

/** The headers of a callback that is signed when the tests' clock starts. */
export const signed = (body: string, change: Signing = {}): Record<string, string> =>
  signedAt(START_MS, body, change);

/** A clock that moves only when a test moves it; its sleepers wake when their signal aborts, and at once without one. */
function createTestClock() {
  const clock = {
    now: START_MS,
    nowMs: () => clock.now,
    sleep: (_durationMs: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal) signal.addEventListener('abort', () => resolve());
        else resolve();
      }),
  };
  return clock;
}

/** Faults that a test turns on and off. */
export interface Faults {
  store?: Error | undefined;
  translation?: Error | undefined;
  /** Until it resolves, callbacks without a verified signature are not stored. */
  stall?: Promise<void>;
  /** The body is no longer a callback. */
  malformed?: boolean;
  rejections?: 'full' | undefined;
  /** Stored callbacks take too much. */
  room?: 'none' | undefined;
  /** Too much waits for Kafka. */
  outbox?: 'full' | undefined;
  /** The rail is no longer configured. */
  isGone?: boolean;
  /** Its connector has no collections. */
  takesNoCollections?: boolean;
}

interface Options {
  /** Further settings of the rail `upstream`. */
  readonly rail?: object;
  readonly trustedProxies?: number;
  /** Faults, which may be changed while the ingress runs. */
  readonly faults?: Faults;
  readonly repassAfterMs?: number;
  readonly perSecondMax?: number;
  readonly proxies?: readonly string[];
}

/** The rail `upstream`, with further settings, and the rail `other`, whose reading of callbacks a fault can break. */
export function openTestRails(options: {
  readonly rail?: object | undefined;
  readonly clock: Clock;
  readonly faults: Faults;
}): (name: string) => CallbackRail | undefined {
  const { clock, faults } = options;
  const rail = (name: string) => upstreamRail({ name, url: 'http://rail.test', publicKey: 'pesewa' });
  const settings = [
    { ...rail('upstream'), ...options.rail },
    { ...rail('other'), callbackSecrets: [secretOf(9)] },
  ];
  const rails = openRails(railSettings.parse(JSON.stringify(settings)), {
    clock,
    transport: () => Promise.reject(new Error('no rail is asked')),
  });
  return (name) => {
    const rail = rails.get(name);
    if (rail === undefined || faults.isGone) return undefined;
    const readBy =
      (part: { readonly readCallback: ReadCallback } | undefined): ReadCallback =>
      (text) => {
        if (faults.translation) throw faults.translation;
        if (faults.malformed || !part) return refuse('callback.malformed');
        return part.readCallback(text);
      };
    return {
      ...rail,
      payouts: { readCallback: readBy(rail.payouts) },
      collections: faults.takesNoCollections ? undefined : { readCallback: readBy(rail.collections) },
    };
  };
}

/** An ingress with real rails over an in-memory store; records what was committed. */
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
  const openRailsAgain = () => openTestRails({ rail: options.rail, clock, faults });
  let rails = openRailsAgain();
  const callbacks = createCallbacks({
    store: memory.store,
    ids,
    clock,
    logger: {
      error: (...line: unknown[]) => void warned.push(line),
      warn: (...line: unknown[]) => void warned.push(line),
    },
    repassAfterMs: options.repassAfterMs ?? 60_000,
    storeTimeoutMs: 1_000,
    isWithinRate: createRates({
      clock,
      rails: [{ name: 'upstream' }, { name: 'other' }],
      perSecondMax: options.perSecondMax ?? 1_000,
    }),
    hasRoom: () => faults.room !== 'none',
    messaging: {
      ...createTestMessaging(memory.taken, emitted),
      acceptsWork: () => faults.outbox !== 'full',
    },
    rail: (name) => rails(name),
  });
  const counted: { readonly rail?: string; readonly result: string; readonly reason: string }[] = [];
  const app = createApp({
    callbacks,
    clock,
    logger,
    metrics: {
      answered: ({ rail, result, reason }) =>
        void counted.push({ result, reason, ...(rail === 'unknown' && { rail }) }),
      durableAfter: () => undefined,
    },
    trustedProxies: options.trustedProxies ?? 0,
    proxies: options.proxies && createAddressList(options.proxies),
  });
  const post = postTo(app);
  /** Applies settings that the test has changed, as a restart would. */
  const reopenRails = () => void (rails = openRailsAgain());
  return { app, post, callbacks, clock, emitted, counted, warned, reopenRails, ...memory };
}

/** Builds the function that posts to an app as its server would. */
export const postTo =
  (app: ReturnType<typeof createApp>) =>
  async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> | [string, string][] = {},
    remoteAddress?: string,
  ) => {
    const lines = Array.isArray(headers) ? headers : Object.entries(headers);
    const bytes = Readable.from(Buffer.from(body));
    const incoming = Object.assign(bytes, { rawHeaders: lines.flat(), socket: { remoteAddress } });
    return app.request(path, { method: 'POST', body, headers: new Headers(headers) }, { incoming });
  };

/** Commits each item by itself, and again with `careful` if its key was taken, as the real group commit does. */
function createTestMessaging(
  taken: Error,
  emitted: OutgoingEvent[],
): Pick<Parameters<typeof createCallbacks>[0]['messaging'], 'groupCommit'> {
  return {
    groupCommit: (_name, apply) => ({
      submit: async (item) => {
        const run = async (isRetry: boolean) => {
          const events: OutgoingEvent[] = [];
          const transaction = {
            session: undefined as never,
            emit: (event: OutgoingEvent) => void events.push(event),
            afterCommit: () => undefined,
            afterRollback: () => undefined,
          };
          const [outcome] = await apply([item], transaction, isRetry);
          emitted.push(...events);
          return outcome as never;
        };
        try {
          return await run(false);
        } catch (error) {
          if (error !== taken) throw error;
          return run(true);
        }
      },
    }),
  };
}

function createMemoryStore(faults: Faults) {
  const taken = new Error('a key is taken');
  const loads: (readonly string[])[] = [];
  const stored = new Map<string, Callback>();
  const records = new Map<string, CallbackRecord>();
  const rejected: (CheckedRequest & { readonly reason: string })[] = [];
  const check = () => {
    if (faults.store) throw faults.store;
  };
  const store: Pick<CallbackStore, 'load' | 'find' | 'save' | 'insertRejected'> = {
    load: async (keys) => {
      check();
      loads.push(keys);
      return new Map([...records].filter(([key]) => keys.includes(key)));
    },
    find: async (id) => {
      return [...stored.values()].find((one) => one.id === id);
    },
    save: async (changes) => {
      check();
      if ([...changes.fresh.values()].some(({ verdict }) => verdict.signature !== 'verified'))
        await faults.stall;
      if ([...changes.fresh.keys()].some((key) => records.has(key))) throw taken;
      for (const [key, callback] of changes.fresh) stored.set(key, callback);
      for (const [key, record] of changes.records) records.set(key, record);
    },
    insertRejected: async (request, reason, keys) => {
      check();
      if (faults.rejections === 'full') return refuse('not_kept');
      rejected.push({ ...request, reason });
      for (const key of keys) {
        const record = records.get(key);
        if (record?.state === 'failed' && record.digest === request.digest)
          records.set(key, { ...record, state: 'dismissed', failure: reason });
      }
      return accept(null);
    },
  };
  return { store, stored, records, rejected, taken, loads };
}
