import { checkStatusResponse, collectionWebhook, parseJson } from '@pesewa/contracts';
import { serveHttp } from '@pesewa/runtime';
import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { checkRequest, control, eventually, payinRequest, startSimulator } from './simulator.fixture.ts';

const mobileOperators = {
  link: { code: 'CIWAV', country: 'CI', currency: 'XOF' },
  stk: { code: 'KESAF', country: 'KE', currency: 'KES' },
  stkThenComplete: { code: 'GMAFR', country: 'GM', currency: 'GMD' },
  otp4: { code: 'CIORA', country: 'CI', currency: 'XOF' },
  otp6: { code: 'GMQMO', country: 'GM', currency: 'GMD' },
} as const;

type Flow = keyof typeof mobileOperators;
const flows = Object.keys(mobileOperators) as readonly Flow[];
const otps: Readonly<Partial<Record<Flow, string>>> = { otp4: '1234', otp6: '123456' };
const completed: readonly Flow[] = ['stkThenComplete', 'otp4', 'otp6'];

/** A simulator on a port of its own, so that a client notices cut connections. */
async function serve(settings: Readonly<Record<string, string>> = {}) {
  await using opened = new AsyncDisposableStack();
  const simulator = opened.use(await startSimulator({ ANSWER_HOLD_MS: '50', ...settings }));
  const listening = { app: simulator.app(), host: '127.0.0.1', port: 0, lingerMs: 0 };
  const { port } = opened.use(await serveHttp(listening));
  /** The result of a call: its HTTP status and reason, `reset`, or `malformed`. */
  const call = async (operation: string, init: ReturnType<typeof payinRequest>): Promise<string> => {
    try {
      const answer = await request(`http://127.0.0.1:${port}/collection/v1/${operation}`, {
        method: 'POST',
        headers: init.headers,
        body: init.body,
      });
      const text = await answer.body.text();
      if (text.endsWith('{')) return 'malformed';
      const { responseDetails } = JSON.parse(text) as {
        responseDetails: { responseMessage: string; failedReason?: string };
      };
      return `${answer.statusCode} ${responseDetails.failedReason ?? responseDetails.responseMessage}`;
    } catch {
      return 'reset';
    }
  };
  const check = async (reference: string) => {
    const answer = await simulator.request('/collection/v1/check-status', checkRequest(reference));
    const read = checkStatusResponse.parse(parseJson(await answer.text()));
    return read.serverResponse.responseDetails.responseMessage;
  };
  const journal = async (reference: string) => {
    const { body } = await control(simulator, 'GET', `journal?reference=${reference}`);
    const { entries } = body as { entries: { kind: string; operation: string; outcome: string }[] };
    return entries.filter(({ operation }) => operation !== 'check');
  };
  const resources = opened.move();
  return {
    simulator,
    call,
    check,
    journal,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

/** The claims of the callbacks about a reference: status and amount, in order. */
function claims({ simulator }: Served, reference: string): readonly string[] {
  return simulator.callbacks
    .map((body) => collectionWebhook.parse(parseJson(body)))
    .filter((callback) => callback.merchant_reference === reference)
    .map((callback) => `${callback.status} ${callback.amount_received}`);
}

/** Plays the customer's and the merchant's steps after payin; gives the result of each call. */
async function play(served: Served, flow: Flow, digits: string): Promise<readonly string[]> {
  const otpCode = otps[flow];
  const payin = payinRequest('c1', mobileOperators[flow], {}, digits);
  const answers = [await served.call('payin', payin)];
  while (answers.at(-1) === '429 TOO MANY REQUESTS' || (digits === '0006' && answers.length === 1))
    answers.push(await served.call('payin', payin));
  if (completed.includes(flow)) {
    const completion = payinRequest(
      'c1',
      mobileOperators[flow],
      otpCode === undefined ? {} : { otpCode },
      digits,
    );
    answers.push(await served.call('complete-payin', completion));
  }
  return answers;
}

const pending = '200 PENDING';

/** How it differs from a collection that succeeds with one callback. */
const scenarios: readonly {
  readonly digits: string;
  /** The answers to payin, and to the completion if there is one. */
  readonly payin?: readonly string[];
  readonly completion?: string;
  readonly end?: string;
  readonly claims?: readonly string[];
}[] = [
  { digits: '4321' },
  { digits: '0001', end: 'FAILED', claims: ['FAILED 0'] },
  { digits: '0002', claims: [] },
  { digits: '0003', end: 'FAILED', claims: [] },
  { digits: '0004', payin: ['500 INTERNAL ERROR'], completion: '500 INTERNAL ERROR' },
  { digits: '0005', payin: ['reset'], completion: 'reset' },
  { digits: '0006', payin: ['reset', pending] },
  { digits: '0007', payin: ['reset'], completion: 'reset' },
  { digits: '0009', claims: ['COMPLETED 100', 'COMPLETED 100', 'COMPLETED 100'] },
  { digits: '0010' },
  { digits: '0011', claims: ['COMPLETED 100', 'FAILED 0'] },
  { digits: '0013' },
  { digits: '0014' },
  { digits: '0015', payin: ['429 TOO MANY REQUESTS', '429 TOO MANY REQUESTS', pending] },
  { digits: '0016', payin: ['malformed'], completion: 'malformed' },
];

describe.each(flows)('a collection by %s behaves as its magic digits say (contract 10.18)', (flow) => {
  it.each(scenarios)('$digits', async (scenario) => {
    await using served = await serve();
    const answers = await play(served, flow, scenario.digits);
    const completions = completed.includes(flow) ? [scenario.completion ?? pending] : [];
    expect(answers).toEqual([...(scenario.payin ?? [pending]), ...completions]);
    // The customer of an STK push or a link needs a moment.
    served.simulator.setForward(5_000);
    const end = scenario.end ?? 'COMPLETED';
    await eventually(async () => ((await served.check('c1')) === end ? true : undefined));
    const expected = scenario.claims ?? ['COMPLETED 100'];
    await eventually(() => (claims(served, 'c1').length >= expected.length ? true : undefined));
    // The callback of an ordinary collection comes after any further callback of the first one would have.
    await served.call('payin', payinRequest('c2', mobileOperators.stk));
    await eventually(() => (claims(served, 'c2').length > 0 ? true : undefined));
    expect(claims(served, 'c1')).toEqual(expected);
    const journal = await served.journal('c1');
    expect(journal.filter(({ kind }) => kind === 'execution')).toMatchObject([{ outcome: end }]);
    expect(journal.filter(({ kind }) => kind === 'callback')).toHaveLength(expected.length);
    expect(journal.filter(({ kind }) => kind === 'reversal')).toEqual([]);
  });

  it('0008 is pending for ten seconds, and sends no callback', async () => {
    await using served = await serve();
    await play(served, flow, '0008');
    served.simulator.setForward(9_000);
    expect(await served.check('c1')).toBe('PENDING');
    served.simulator.setForward(2_000);
    await served.simulator.restart();
    await eventually(async () => ((await served.check('c1')) === 'COMPLETED' ? true : undefined));
    expect(claims(served, 'c1')).toEqual([]);
  });

  it('0017 is pending for ever, played or not', async () => {
    await using served = await serve();
    await served.call('payin', payinRequest('c0', mobileOperators[flow], {}, '0017'));
    await play(served, flow, '0017');
    served.simulator.setForward(3_600_000);
    await served.simulator.restart();
    expect([await served.check('c0'), await served.check('c1')]).toEqual(['PENDING', 'PENDING']);
  });
});

describe('the callbacks of a collection', () => {
  it('0010 calls back before the answer that the customer’s part led to', async () => {
    for (const flow of flows) {
      await using served = await serve();
      await play(served, flow, '0010');
      expect(claims(served, 'c1')).toEqual(['COMPLETED 100']);
    }
  });

  it.each([
    ['stk', '101', '1'],
    ['link', '200', '1'],
  ] as const)('0012 claims another amount than was executed (%s)', async (flow, claimed, fee) => {
    await using served = await serve();
    await play(served, flow, '0012');
    await eventually(() => (claims(served, 'c1').length > 0 ? true : undefined));
    const [body = ''] = served.simulator.callbacks;
    expect(collectionWebhook.parse(parseJson(body))).toMatchObject({
      amount_received: claimed,
      transaction_fee: fee,
    });
    const { body: wallets } = await control(served.simulator, 'GET', 'wallets');
    const { currency } = mobileOperators[flow];
    const balance = expect.stringMatching(/^10000099(\.00)?$/) as unknown;
    expect(wallets).toMatchObject({ wallets: expect.arrayContaining([{ currency, balance }]) as unknown });
  });

  it('0013 is denied for five seconds, and completed all the same', async () => {
    await using served = await serve();
    await play(served, 'otp4', '0013');
    expect(await served.check('c1')).toBe('NOT FOUND');
    served.simulator.setForward(5_000);
    expect(await served.check('c1')).toBe('COMPLETED');
  });

  it('0008 at its link stays pending when Pay is pressed', async () => {
    await using served = await serve();
    const answer = await served.simulator.request(
      '/collection/v1/payin',
      payinRequest('c1', mobileOperators.link, {}, '0008'),
    );
    const { redirectionUrl } = (await answer.json()) as { redirectionUrl: string };
    await served.simulator.request(`${new URL(redirectionUrl).pathname}/pay`, { method: 'POST' });
    expect(await served.check('c1')).toBe('PENDING');
  });

  it('a completion before the payin was taken on finds nothing, and takes no try', async () => {
    await using served = await serve();
    const complete = () =>
      served.call('complete-payin', payinRequest('c1', mobileOperators.otp6, { otpCode: '123456' }, '0006'));
    expect(await served.call('payin', payinRequest('c1', mobileOperators.otp6, {}, '0006'))).toBe('reset');
    expect(await complete()).toBe('200 UNKNOWN REFERENCE');
    expect(await served.call('payin', payinRequest('c1', mobileOperators.otp6, {}, '0006'))).toBe(pending);
    expect(await complete()).toBe(pending);
  });

  it('every completion is in the journal, repeated ones too', async () => {
    await using served = await serve();
    await served.call('payin', payinRequest('c1', mobileOperators.otp6, {}, '0017'));
    for (const otpCode of ['999999', '123456', '123456'])
      await served.call('complete-payin', payinRequest('c1', mobileOperators.otp6, { otpCode }, '0017'));
    const completions = (await served.journal('c1')).filter(({ operation }) => operation === 'complete');
    expect(completions.map(({ outcome }) => outcome)).toEqual([
      'incorrect otp',
      'accepted',
      'accepted before',
    ]);
  });
});

describe('signed callbacks (CALLBACK_SIGNING_SECRET)', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  it.each([
    ['0009', ['COMPLETED', 'COMPLETED', 'COMPLETED'], 1],
    ['0011', ['COMPLETED', 'FAILED'], 2],
    ['0001', ['FAILED'], 1],
  ])('%s: %j, each verifies over its raw bytes', async (digits, statuses, distinct) => {
    await using served = await serve({ CALLBACK_SIGNING_SECRET: secret });
    await play(served, 'stk', digits);
    const { callbacks, callbackHeaders } = served.simulator;
    await eventually(() => (callbacks.length === statuses.length ? true : undefined));
    for (const [index, body] of callbacks.entries()) {
      const verify = (text: string) => new Webhook(secret).verify(text, callbackHeaders[index] ?? {});
      expect(verify(body)).toMatchObject({ status: statuses[index] });
      expect(() => verify(JSON.stringify(JSON.parse(body), null, 1))).toThrow('No matching signature');
    }
    expect(new Set(callbackHeaders.map((headers) => headers['webhook-id'])).size).toBe(distinct);
  });

  it('are unsigned otherwise', async () => {
    await using served = await serve();
    await play(served, 'stk', '4321');
    await eventually(() => (served.simulator.callbacks.length > 0 ? true : undefined));
    expect(Object.keys(served.simulator.callbackHeaders[0] ?? {})).not.toContain('webhook-signature');
  });
});
