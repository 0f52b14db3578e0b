import { openRails, type Processor, type Rails, railSettings, upstreamRail } from '@pesewa/rails';
import { createLogger } from '@pesewa/runtime';
import type { ListingStore, RailListing } from './processors.ts';
import { openProcessors, type Processors } from './processors.ts';

/** An active processor of Nigeria, with the test's changes. */
export const processor = (code: string, change: Partial<Processor> = {}): Processor => ({
  code,
  name: code,
  shortName: code,
  sortCode: code,
  avatar: '#fff',
  currency: 'NGN',
  country: 'NGA',
  active: true,
  blockTransaction: false,
  ...change,
});

/** What a scripted rail answers: these processors, an error 500, or nothing. */
export type Script = { readonly processors: readonly Processor[] } | 'broken' | 'silent';

/** Two rails, `first` and `second`, over a scripted network that counts every request. */
export function openTestRails(scripts: Record<string, Script>, account: object = {}) {
  const asked: string[] = [];
  const envelope = { isSuccessful: true, responseCode: '00', responseMessage: 'ok' };
  const holder = {
    accountName: 'Ama',
    accountNumber: '0123456789',
    bankCode: '058',
    sessionId: 's\u0000-1',
    ...account,
  };
  const settings = ['first', 'second'].map((name) => ({
    ...upstreamRail({ name, url: `http://${name}.test`, publicKey: 'hub' }),
    breakerFailures: 1_000,
    payouts: [
      { country: 'NGA', currency: 'NGN', channels: name === 'first' ? ['Bank Transfer'] : undefined },
      ...(name === 'second' ? [{ country: 'KEN', currency: 'KES' }] : []),
    ],
  }));
  const rails: Rails = openRails(railSettings.parse(JSON.stringify(settings)), {
    clock: createManualClock().clock,
    transport: (request) => {
      const { hostname, pathname, search } = new URL(request.url);
      const name = hostname.replace('.test', '');
      asked.push(`${name} ${pathname.replace('/api/v1', '')}${search}`);
      const script = scripts[name] ?? 'broken';
      if (script === 'silent') return new Promise(() => undefined);
      if (script === 'broken') return Promise.resolve({ status: 500, retryAfter: undefined, bodyText: '' });
      const country = new URLSearchParams(search).get('country');
      const responseData = pathname.endsWith('/banks')
        ? script.processors.filter((listed) => listed.country === country)
        : holder;
      return Promise.resolve({
        status: 200,
        retryAfter: undefined,
        bodyText: JSON.stringify({ ...envelope, responseData }),
      });
    },
  });
  return { rails, asked };
}

/** A clock that the test moves; a sleeper wakes when it is moved, or when the signal aborts. */
function createManualClock() {
  let nowMs = Date.UTC(2026, 0, 1);
  const sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  return {
    clock: {
      nowMs: () => nowMs,
      sleep: (durationMs: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          const sleeper = { atMs: nowMs + durationMs, wake: resolve };
          sleepers.add(sleeper);
          signal?.addEventListener('abort', () => {
            sleepers.delete(sleeper);
            resolve();
          });
        }),
    },
    advance: (durationMs: number) => {
      nowMs += durationMs;
      for (const sleeper of sleepers) {
        if (sleeper.atMs > nowMs) continue;
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

/** Processors over scripted rails and an in-memory store. */
export async function openTestProcessors(
  scripts: Record<string, Script>,
  stored: readonly RailListing[] = [],
) {
  const { clock, advance } = createManualClock();
  const saved: RailListing[] = [];
  const store: ListingStore = {
    all: async () => stored,
    save: async (listing) => void saved.push(listing),
  };
  const { rails, asked } = openTestRails(scripts);
  const logger = createLogger({ name: 'test', level: 'silent' });
  const processors: Processors = await openProcessors({ rails, store, ttlMs: 300_000, clock, logger });
  return { processors, rails, asked, saved, advance };
}
