import { describe, expect, it } from 'vitest';
import {
  type CollectionWords,
  type ConnectorCase,
  type Lookup,
  openRail,
  type PayoutWords,
  readRails,
  type Said,
  saying,
} from './connector-case.fixture.ts';
import { TransportError } from './http-transport.ts';
import type { LookupResult, NotSent, Rail, RailPayouts } from './rail.ts';
import { answering, collection, payout, START_MS } from './rails.fixture.ts';

const unknown = { kind: 'unknown', why: expect.any(String) as string };
const PERSON = '233240000000';
const REASON = `no wallet for ${PERSON} of ama@example.com`;
const MASKED = /^no wallet for \*\*\* of \*\*\*$/i;
/** What no connector understands: it names a person, whom no result and no log may name. */
const GIBBERISH: readonly (readonly [string, number, unknown])[] = [
  ['no JSON', 200, `<html>${PERSON}`],
  ['nothing', 200, ''],
  ['null', 200, null],
  ['a list', 200, [PERSON]],
  ['an object of another kind', 200, { [PERSON]: PERSON, state: PERSON, isSuccessful: true }],
  ['an error', 500, { note: PERSON }],
  ['a redirect', 302, { note: PERSON }],
  ['a proxy that finds nothing', 404, `<html>${PERSON}`],
  ['a gateway that gave up', 504, PERSON],
];

type Call = readonly [
  name: string,
  asks: boolean,
  call: (rail: Rail) => Promise<{ readonly kind: string }> | undefined,
];

const LOOKUP = { reference: payout.reference, currency: payout.currency };
const CHECK = { reference: collection.reference, currency: collection.currency, country: collection.country };
const payoutCalls: readonly Call[] = [
  ['submit', false, ({ payouts }) => payouts?.submit(payout)],
  ['lookUp', true, ({ payouts }) => payouts?.lookUp(LOOKUP)],
];
const collectionCalls: readonly Call[] = [
  ['initiate', false, ({ collections }) => collections?.initiate(collection)],
  ['complete', false, ({ collections }) => collections?.complete({ ...collection, otpCode: '123456' })],
  ['check', true, ({ collections }) => collections?.check(CHECK)],
];

/** What every connector has to hold, however its rail speaks. */
export function describeConnector(one: ConnectorCase): void {
  describe(`the connector ${one.name}`, () => {
    const calls = [...(one.payouts ? payoutCalls : []), ...(one.collections ? collectionCalls : [])];
    describe.each(calls)('%s', (_, asks, call) => {
      describeCall(one, asks, call);
    });
    if (one.payouts) describePayouts(one, one.payouts);
    if (one.collections) describeCollections(one, one.collections);
    describeParts(one);
  });
}

/** What holds for each call; `asks` if it only asks, so that a rail that turns it away has said nothing. */
function describeCall(one: ConnectorCase, asks: boolean, call: Call[2]): void {
  it('names our reference', async () => {
    const { rail, asked } = openRail(one, answering(500, ''));
    await call(rail);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/po-1|co-1/);
  });

  it.each([
    ['a time-out', new TransportError('timeout', true)],
    ['a reset', new TransportError('ECONNRESET', true)],
    ['an answer too large', new TransportError('answer too large', true, true)],
    ['a defect of ours', new TypeError(`a defect with ${PERSON}`)],
  ])('is unknown after %s', async (_, error) => {
    const { rail, logged } = openRail(one, () => Promise.reject(error));
    const result = await call(rail);
    expect(result).toEqual(unknown);
    expect(JSON.stringify([result, logged])).not.toContain(PERSON);
  });

  it.each(GIBBERISH)(
    'is unknown after an answer that it does not understand: %s',
    async (_, status, body) => {
      const { rail, logged } = openRail(one, answering(status, body));
      const result = await call(rail);
      expect(result).toEqual(unknown);
      expect(JSON.stringify([result, logged])).not.toContain(PERSON);
    },
  );

  it('has no effect where nothing listens, the key is refused or the rail is busy', async () => {
    const turnedAway = asks ? 'unknown' : 'notSent';
    const unreached = openRail(one, () => Promise.reject(new TransportError('ECONNREFUSED', false)));
    expect(await call(unreached.rail)).toMatchObject({ kind: turnedAway });
    for (const status of [401, 403])
      expect(await call(saying(one, [status, '']))).toMatchObject({ kind: turnedAway, isOurFault: true });
    const busy = openRail(one, answering(429, '', '7'));
    expect(await call(busy.rail)).toMatchObject({ kind: turnedAway, retryAfterMs: 7_000 });
  });

  it('is not sent while the circuit is open', async () => {
    const { rail, asked } = openRail(one, answering(500, ''), { breakerFailures: 2, breakerOpenMs: 9_000 });
    for (const _ of [1, 2]) await call(rail);
    expect(rail.isAvailable()).toBe(false);
    expect(await call(rail)).toEqual({ kind: 'notSent', why: 'circuit open', retryAfterMs: 9_000 });
    expect(asked).toHaveLength(2);
  });
}

function describePayouts(one: ConnectorCase, { submission, lookup, callback }: PayoutWords): void {
  const submit = (said: Said) => saying(one, said).payouts?.submit(payout);
  const lookUp = (said: Said) => saying(one, said).payouts?.lookUp(LOOKUP);

  it('takes a payout as accepted only if the answer is about it', async () => {
    expect(await submit(submission.accepted)).toEqual({ kind: 'acknowledged' });
    expect(await submit(submission.aboutAnother)).toEqual(unknown);
  });

  it('takes a clear refusal of a payout as its end, and a duplicate reference as a reason to look it up', async () => {
    expect(await submit(submission.refused(REASON))).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(MASKED) as string,
    });
    expect(await submit(submission.duplicate)).toEqual(unknown);
  });

  it('sees a payout as its rail does', async () => {
    await expectLookup(lookUp, lookup);
    expect(await lookUp(lookup.completed)).toMatchObject({ amount: payout.amount });
    expect(await lookUp(lookup.aboutAnother)).toEqual(unknown);
    expect(await lookUp(lookup.failed(REASON))).toMatchObject({
      reason: expect.stringMatching(MASKED) as string,
    });
  });

  it('reads a payout’s callback, masked, and refuses what is none', () => {
    const { payouts } = openRail(one, answering(500, '')).rail;
    expectCallbacks(payouts, callback, payout.reference);
  });
}

function describeCollections(one: ConnectorCase, words: CollectionWords): void {
  const { initiation, completion, lookup, callback } = words;
  const initiate = (said: Said) => saying(one, said).collections?.initiate(collection);
  const complete = (said: Said) => saying(one, said).collections?.complete(collection);
  const check = (said: Said) => saying(one, said).collections?.check(CHECK);

  it('takes a clear refusal of a collection as its end, and a duplicate reference as a reason to ask', async () => {
    expect(await initiate(initiation.accepted)).toMatchObject({ kind: 'acknowledged' });
    expect(await initiate(initiation.refused(REASON))).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(MASKED) as string,
    });
    expect(await initiate(initiation.duplicate)).toEqual(unknown);
  });

  it('takes a refused completion as no end of the collection', async () => {
    expect(await complete(completion.accepted)).toEqual({ kind: 'acknowledged' });
    expect(await complete(completion.refused(REASON))).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(MASKED) as string,
    });
  });

  it('sees a collection as its rail does', async () => {
    await expectLookup(check, lookup);
    expect(await check(lookup.failed)).toMatchObject({ kind: 'failed' });
  });

  it('reads a collection’s callback, masked, and refuses what is none', () => {
    const { collections } = openRail(one, answering(500, '')).rail;
    expectCallbacks(collections, callback, collection.reference);
  });
}

async function expectLookup(
  look: (said: Said) => Promise<LookupResult | NotSent> | undefined,
  { pending, completed, notFound }: Pick<Lookup, 'pending' | 'completed' | 'notFound'>,
): Promise<void> {
  expect(await look(pending)).toEqual({ kind: 'pending' });
  expect(await look(completed)).toMatchObject({ kind: 'completed' });
  expect(await look(notFound)).toEqual({ kind: 'notFound' });
}

function expectCallbacks(
  part: Pick<RailPayouts, 'readCallback'> | undefined,
  callback: (reason: string) => string,
  reference: string,
): void {
  expect(part?.readCallback(callback(REASON))).toMatchObject({
    ok: true,
    value: { reference, claimedReason: expect.stringMatching(MASKED) as string },
  });
  for (const text of ['', '{', 'null', '[]', `{"id":${PERSON}}`, callback('').replaceAll(reference, '../x')])
    expect(part?.readCallback(text)).toEqual({ ok: false, refusal: 'callback.malformed' });
}

/** What follows from the parts that a connector has, and from the settings of every rail. */
function describeParts(one: ConnectorCase): void {
  const problems = (settings: object) =>
    (readRails(one, settings).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );

  it('is given nothing to do that it has no part for, and the configuration says so', () => {
    const { rail } = openRail(one, answering(500, ''));
    const [payouts, collections] = [one.payouts !== undefined, one.collections !== undefined];
    expect([rail.payouts !== undefined, rail.collections !== undefined]).toEqual([payouts, collections]);
    expect(problems({ payouts: [{ country: 'GHA', currency: 'GHS' }] })).toEqual(
      payouts ? [] : ['0.payouts: the connector has no payouts'],
    );
    expect(problems({ operatorCodes: ['GHMTN'] })).toEqual(
      collections ? [] : ['0.operatorCodes: the connector has no collections'],
    );
  });

  it('believes no callback without a signature where one is required, and none from elsewhere', () => {
    const settings = {
      callbackSecrets: [`whsec_${'A'.repeat(43)}=`],
      callbacks: 'proven',
      callbackAddresses: ['203.0.113.7'],
    };
    const { rail } = openRail(one, answering(500, ''), settings);
    const verdict = rail.verifyCallback({
      headers: [],
      body: Buffer.from('{}'),
      clientAddress: '203.0.113.8',
      receivedAtMs: START_MS,
    });
    expect(verdict).toEqual({ address: 'unlisted', signature: 'missing', messageId: null, proven: false });
  });

  it('throws at nothing that a rail says about what it has besides payments', async () => {
    for (const [, status, body] of GIBBERISH) {
      const { rail } = openRail(one, answering(status, body));
      expect(await rail.balances()).toEqual(unknown);
      for (const asked of [
        rail.payouts?.processors('GHA'),
        rail.payouts?.enquireName({ accountNumber: PERSON, bankCode: 'B', currency: 'GHS', country: 'GHA' }),
      ])
        expect((await asked)?.kind ?? 'unknown').toBe('unknown');
    }
  });

  it('refuses a time-out that no ordered end waits for', () => {
    expect(problems({ timeoutMs: 15_001 }).join()).toMatch(/^0\.timeoutMs: must be at most 15000/);
  });
}
