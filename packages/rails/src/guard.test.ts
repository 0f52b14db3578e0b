import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTokenBucket } from './guard.ts';
import { TransportError, type TransportResponse } from './http-transport.ts';
import { answering, createRailFixture, createTestClock, payout } from './rails.fixture.ts';

afterEach(() => void vi.useRealTimers());

const query = { reference: 'po-1', currency: 'KES' };
const notFound = {
  status: 400,
  retryAfter: undefined,
  bodyText: '{"isSuccessful":false,"responseCode":"25","responseMessage":"no"}',
};

describe('the circuit breaker', () => {
  it.each([
    ['resets', () => Promise.reject(new TransportError('ECONNRESET', true))],
    ['refused connections', () => Promise.reject(new TransportError('ECONNREFUSED', false))],
    ['server errors', answering(503, '')],
  ])('opens after consecutive %s; then payouts wait and lookups are not made', async (_, transport) => {
    const { rail, requests } = createRailFixture(transport, { breakerFailures: 3, breakerOpenMs: 7_000 });
    for (let attempt = 0; attempt < 3; attempt += 1) await rail.payouts.lookUp(query);
    expect(await rail.payouts.submit(payout)).toEqual({
      kind: 'notSent',
      why: 'circuit open',
      retryAfterMs: 7_000,
    });
    expect(await rail.payouts.lookUp(query)).toEqual({
      kind: 'notSent',
      why: 'circuit open',
      retryAfterMs: 7_000,
    });
    expect(requests).toHaveLength(3);
  });

  it('says while it is open that a call would not be tried, and from its time on that it may be', async () => {
    const { rail, clock } = createRailFixture(answering(503, ''), {
      breakerFailures: 2,
      breakerOpenMs: 7_000,
    });
    await rail.payouts.lookUp(query);
    expect(rail.isAvailable()).toBe(true);
    await rail.payouts.lookUp(query);
    expect(rail.isAvailable()).toBe(false);
    clock.now += 7_000;
    expect(rail.isAvailable()).toBe(true);
  });

  it('stays closed over refusals: they are answers', async () => {
    const { rail, requests } = createRailFixture(answering(429, ''), { breakerFailures: 2 });
    for (let attempt = 0; attempt < 5; attempt += 1) await rail.payouts.submit(payout);
    expect(requests).toHaveLength(5);
  });

  it('stays closed over answers that are too large: the rail is there', async () => {
    const { rail, requests } = createRailFixture(
      () => Promise.reject(new TransportError('answer too large', true, true)),
      { breakerFailures: 2 },
    );
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect(await rail.payouts.processors('KEN')).toEqual({ kind: 'unknown', why: 'answer too large' });
    expect(requests).toHaveLength(5);
  });

  it('tries again after its time, and closes on an answer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let healthy = false;
    const { rail, requests } = createRailFixture(
      async () => {
        if (!healthy) throw new TransportError('timeout', true);
        return notFound;
      },
      { breakerFailures: 1, breakerOpenMs: 1_000 },
    );
    await rail.payouts.lookUp(query);
    healthy = true;
    expect(await rail.payouts.lookUp(query)).toMatchObject({ kind: 'notSent' });
    vi.setSystemTime(Date.now() + 1_000);
    expect(await rail.payouts.lookUp(query)).toEqual({ kind: 'notFound' });
    expect(await rail.payouts.lookUp(query)).toEqual({ kind: 'notFound' });
    expect(requests).toHaveLength(3);
  });

  it('is not closed by a probe that waited too long and was never sent', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { rail, requests, clock } = createRailFixture(answering(503, ''), {
      breakerFailures: 2,
      breakerOpenMs: 1_000,
      requestsPerSecondMax: 2,
    });
    await rail.payouts.lookUp(query);
    await rail.payouts.lookUp(query);
    // The turn would come within half a second, but the process is frozen and wakes up a minute later.
    clock.sleep = async () => {
      clock.now += 60_000;
      vi.setSystemTime(Date.now() + 60_000);
    };
    expect(await rail.payouts.submit(payout)).toMatchObject({ why: 'waited too long for its turn' });
    await rail.payouts.submit(payout);
    expect(requests).toHaveLength(3);
    expect(rail.isAvailable()).toBe(false);
  });
});

describe('inquiries', () => {
  const enquiry = { accountNumber: '0123456789', bankCode: '058', currency: 'NGN', country: 'NGA' };
  const isEnquiry = ({ url }: { readonly url: string }) => url.includes('name-enquiry');

  it.each(['name enquiries', 'lists of processors'])(
    'that hang leave payouts three quarters of the places: %s',
    async (what) => {
      const isPayout = ({ url }: { readonly url: string }) => url.includes('/transactions/transfer/');
      const { rail, requests } = createRailFixture(
        (request) => (isPayout(request) ? answering(200, '')(request) : new Promise(() => undefined)),
        { concurrencyMax: 4 },
      );
      const { enquireName, processors } = rail.payouts;
      const asked = Array.from({ length: 8 }, () =>
        what === 'name enquiries' ? enquireName(enquiry) : processors('NGA'),
      );
      expect(await Promise.race(asked)).toEqual({
        kind: 'unknown',
        why: 'not asked: concurrency limit of the rail',
      });
      await Promise.all(Array.from({ length: 3 }, () => rail.payouts.submit(payout)));
      expect(requests.map(isPayout)).toEqual([false, true, true, true]);
    },
  );

  it('have a quarter of the requests per second, and what they are refused takes no turn from payouts', async () => {
    const { rail, requests, clock } = createRailFixture(answering(200, ''), { requestsPerSecondMax: 8 });
    const waits: number[] = [];
    clock.sleep = async (durationMs) => void waits.push(durationMs);
    for (let asked = 0; asked < 20; asked += 1) await rail.payouts.enquireName(enquiry);
    // A second's share at once, and those whose turn comes within the second that a request waits.
    expect(requests).toHaveLength(4);
    expect(waits).toEqual([500, 1_000]);
    for (let sent = 0; sent < 4; sent += 1) await rail.payouts.submit(payout);
    expect(requests).toHaveLength(8);
    expect(waits).toHaveLength(2);
  });

  it.each([
    ['enquiries', 'payouts', isEnquiry],
    ['payouts', 'enquiries', (request: { readonly url: string }) => !isEnquiry(request)],
  ])('have a circuit of their own: failing %s leave that of %s closed', async (_failing, _closed, fails) => {
    const { rail, requests } = createRailFixture(
      (request) => answering(fails(request) ? 503 : 200, '')(request),
      { breakerFailures: 2 },
    );
    for (let turn = 0; turn < 3; turn += 1) {
      await rail.payouts.enquireName(enquiry);
      await rail.payouts.submit(payout);
    }
    expect(requests.filter(fails)).toHaveLength(2);
    expect(requests).toHaveLength(5);
  });
});

describe('the concurrency limit', () => {
  it('lets as many wait as run, and refuses more unsent', async () => {
    const open: ((response: TransportResponse) => void)[] = [];
    const { rail, requests, clock } = createRailFixture(() => new Promise((resolve) => open.push(resolve)), {
      concurrencyMax: 1,
    });
    const running = rail.payouts.lookUp(query);
    const waiting = rail.payouts.lookUp(query);
    expect(await rail.payouts.submit(payout)).toEqual({
      kind: 'notSent',
      why: 'concurrency limit of the rail',
      retryAfterMs: 1_000,
    });
    clock.now += 1_000;
    open[0]?.(notFound);
    expect(await running).toEqual({ kind: 'notFound' });
    await expect.poll(() => requests).toHaveLength(2);
    open[1]?.(notFound);
    expect(await waiting).toEqual({ kind: 'notFound' });
  });

  it('does not send what waited too long', async () => {
    const open: ((response: TransportResponse) => void)[] = [];
    const { rail, requests, clock } = createRailFixture(() => new Promise((resolve) => open.push(resolve)), {
      concurrencyMax: 1,
    });
    const running = rail.payouts.lookUp(query);
    const waiting = rail.payouts.submit(payout);
    await expect.poll(() => requests).toHaveLength(1);
    clock.now += 1_001;
    open[0]?.(notFound);
    await running;
    expect(await waiting).toMatchObject({ kind: 'notSent', why: 'waited too long for its turn' });
    expect(requests).toHaveLength(1);
  });
});

describe('the rate limit', () => {
  it('gives a burst of a second, then turns, then refusals with the time to wait', () => {
    const clock = createTestClock();
    const bucket = createTokenBucket({ clock, perSecondMax: 10, waitMsMax: 200 });
    const waits = Array.from({ length: 14 }, () => bucket.take());
    expect(waits.slice(0, 10).every(({ granted, waitMs }) => granted && waitMs === 0)).toBe(true);
    expect(waits.slice(10)).toEqual([
      { granted: true, waitMs: 100 },
      { granted: true, waitMs: 200 },
      { granted: false, waitMs: 300 },
      { granted: false, waitMs: 300 },
    ]);
    clock.now += 300;
    expect(bucket.take()).toEqual({ granted: true, waitMs: 0 });
    clock.now -= 10_000;
    expect(bucket.take()).toEqual({ granted: true, waitMs: 100 });
    clock.now += 60_000;
    expect(Array.from({ length: 11 }, () => bucket.take().waitMs)).toEqual([
      ...Array<number>(10).fill(0),
      100,
    ]);
  });

  it('makes a payout wait, unsent', async () => {
    const { rail, requests, clock } = createRailFixture(answering(200, ''), { requestsPerSecondMax: 1 });
    clock.sleep = async () => undefined;
    await rail.payouts.submit(payout);
    await rail.payouts.submit(payout);
    expect(await rail.payouts.submit(payout)).toEqual({
      kind: 'notSent',
      why: 'rate limit of the rail',
      retryAfterMs: 2_000,
    });
    expect(requests).toHaveLength(2);
  });

  it('does not send what stood still while it waited for its turn', async () => {
    const { rail, requests, clock } = createRailFixture(answering(200, ''), { requestsPerSecondMax: 1 });
    await rail.payouts.submit(payout);
    // The turn would come within a second, but the process is frozen and wakes up a minute later.
    clock.sleep = async (durationMs) => void (clock.now += durationMs + 60_000);
    expect(await rail.payouts.submit(payout)).toMatchObject({
      kind: 'notSent',
      why: 'waited too long for its turn',
    });
    expect(requests).toHaveLength(1);
  });
});
