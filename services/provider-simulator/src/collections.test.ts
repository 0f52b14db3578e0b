import { checkStatusResponse, collectionWebhook, parseJson, payinResponse } from '@pesewa/contracts';
import { serveHttp } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { checkRequest, control, eventually, payinRequest, startSimulator } from './simulator.fixture.ts';

type Started = Awaited<ReturnType<typeof startSimulator>>;

const qmoney = { code: 'GMQMO', country: 'GM', currency: 'GMD' };
const wave = { code: 'GMWAV', country: 'GM', currency: 'GMD' };
const afrimoney = { code: 'GMAFR', country: 'GM', currency: 'GMD' };
const orange = { code: 'CIORA', country: 'CI', currency: 'XOF' };
const safaricom = { code: 'KESAF', country: 'KE', currency: 'KES' };

async function payin(simulator: Started, request: RequestInit, operation = 'payin') {
  const answer = await simulator.request(`/collection/v1/${operation}`, request);
  return { http: answer.status, ...payinResponse.parse(parseJson(await answer.text())) };
}

const complete = (simulator: Started, request: RequestInit) => payin(simulator, request, 'complete-payin');

async function check(simulator: Started, reference: string) {
  const answer = await simulator.request('/collection/v1/check-status', checkRequest(reference));
  const { responseCode, responseMessage } = checkStatusResponse.parse(parseJson(await answer.text()))
    .serverResponse.responseDetails;
  return `${responseCode} ${responseMessage}`;
}

const eventuallyChecked = (simulator: Started, reference: string, expected: string) =>
  eventually(async () => ((await check(simulator, reference)) === expected ? true : undefined));

const firstCallback = (simulator: Started) =>
  eventually(() => {
    const [body] = simulator.callbacks;
    return body === undefined ? undefined : collectionWebhook.parse(parseJson(body));
  });

describe('a collection follows the flow of its mobile operator (contract 2.8)', () => {
  it('STK: the customer accepts, and the callback reports it', async () => {
    await using simulator = await startSimulator();
    const answer = await payin(simulator, payinRequest('c1', safaricom));
    expect(answer).toMatchObject({
      otpIsRequired: false,
      paymentCompletionRequired: false,
      lengthOfOtp: '0',
    });
    expect(await firstCallback(simulator)).toMatchObject({
      merchant_reference: 'c1',
      transaction_reference: answer.transactionReference,
      status: 'COMPLETED',
      amount_received: '100',
      transaction_fee: '1',
    });
    expect(await check(simulator, 'c1')).toBe('00 COMPLETED');
  });

  it('OTP: pending until the right one', async () => {
    await using simulator = await startSimulator();
    const answer = await payin(simulator, payinRequest('c1', orange));
    expect(answer).toMatchObject({ otpIsRequired: true, lengthOfOtp: '4', paymentCompletionRequired: true });
    const wrong = await complete(simulator, payinRequest('c1', orange, { otpCode: '9999' }));
    expect(wrong.responseDetails.failedReason).toBe('INCORRECT OTP');
    expect(await check(simulator, 'c1')).toBe('09 PENDING');
    const right = await complete(simulator, payinRequest('c1', orange, { otpCode: '1234' }));
    expect(right.responseDetails.responseCode).toBe('09');
    await eventuallyChecked(simulator, 'c1', '00 COMPLETED');
  });

  it('OTP: three wrong ones fail it', async () => {
    await using simulator = await startSimulator();
    await payin(simulator, payinRequest('c1', qmoney));
    const reasons: (string | undefined)[] = [];
    for (const otpCode of ['000000', '111111', '222222', '123456']) {
      reasons.push(
        (await complete(simulator, payinRequest('c1', qmoney, { otpCode }))).responseDetails.failedReason,
      );
    }
    const exceeded = 'OTP ATTEMPTS EXCEEDED';
    expect(reasons).toEqual(['INCORRECT OTP', 'INCORRECT OTP', exceeded, exceeded]);
    expect(await firstCallback(simulator)).toMatchObject({
      status: 'FAILED',
      transaction_status: 'Transaction Failed',
      amount_received: '0',
      transaction_fee: '0',
      failure_reason: exceeded,
    });
  });

  it('STK, then complete-payin without OTP', async () => {
    await using simulator = await startSimulator();
    const answer = await payin(simulator, payinRequest('c1', afrimoney));
    expect(answer).toMatchObject({ otpIsRequired: false, paymentCompletionRequired: true });
    await complete(simulator, payinRequest('c1', afrimoney));
    await eventuallyChecked(simulator, 'c1', '00 COMPLETED');
  });

  it('link: a page with Pay and Cancel, paid by itself if no button is pressed', async () => {
    await using simulator = await startSimulator({ CUSTOMER_DELAY_MS: '60000' });
    const answer = await payin(simulator, payinRequest('c1', wave));
    expect(answer).toMatchObject({ paymentCompletionRequired: false, redirectionRequired: true });
    const { pathname } = new URL(answer.redirectionUrl);
    expect(await (await simulator.request(pathname)).text()).toContain('<button>Pay</button>');
    await simulator.request(`${pathname}/cancel`, { method: 'POST' });
    expect(await check(simulator, 'c1')).toBe('06 FAILED');
    await payin(simulator, payinRequest('c2', wave));
    simulator.setForward(60_000);
    await simulator.restart();
    await eventuallyChecked(simulator, 'c2', '00 COMPLETED');
  });
});

describe('magic digits of a customer', () => {
  it.each([
    ['0001', '06 FAILED', 200],
    ['0002', '00 COMPLETED', 200],
    ['0004', '00 COMPLETED', 500],
  ])('%s ends as %s, payin answers HTTP %d', async (digits, end, http) => {
    await using simulator = await startSimulator();
    const answer = await simulator.request('/collection/v1/payin', payinRequest('c1', safaricom, {}, digits));
    expect(answer.status).toBe(http);
    await eventuallyChecked(simulator, 'c1', end);
  });
});

describe('the collection API refuses', () => {
  it('in the shape of contract 2.9, with the reason', async () => {
    await using simulator = await startSimulator();
    await payin(simulator, payinRequest('c1', safaricom));
    const refused = [
      payinRequest('c1', safaricom),
      payinRequest('c2', { ...safaricom, country: 'GH' }),
      { ...payinRequest('c2', safaricom), headers: payinRequest('other', safaricom).headers },
      payinRequest('c2', safaricom, { customerNumber: undefined }),
    ] as RequestInit[];
    const reasons: (string | undefined)[] = [];
    for (const request of refused)
      reasons.push((await payin(simulator, request)).responseDetails.failedReason);
    expect(reasons).toEqual([
      'DUPLICATE REFERENCE',
      'OPERATOR NOT AVAILABLE',
      'INCORRECT SECURITY MODULE',
      'INVALID REQUEST',
    ]);
    expect(await check(simulator, 'c2')).toBe('25 NOT FOUND');
  });
});

describe('the control API', () => {
  it('makes digits behave like others until reset', async () => {
    await using simulator = await startSimulator();
    await control(simulator, 'PUT', 'scenarios/4321', { like: '0001' });
    const { body } = await control(simulator, 'GET', 'scenarios');
    expect(body).toEqual({ scenarios: [{ digits: '4321', like: '0001' }] });
    await payin(simulator, payinRequest('c1', safaricom));
    await eventuallyChecked(simulator, 'c1', '06 FAILED');
    await control(simulator, 'PUT', 'scenarios/4321', { like: null });
    await payin(simulator, payinRequest('c2', safaricom));
    await eventuallyChecked(simulator, 'c2', '00 COMPLETED');
  });

  it('sends no callbacks while they are off', async () => {
    await using simulator = await startSimulator();
    const { body } = await control(simulator, 'PUT', 'faults', { callbacks: false, latencyMs: 1 });
    expect(body).toEqual({ callbacks: false, outage: false, latencyMs: 1, merchantEndpoint: null });
    await payin(simulator, payinRequest('c1', safaricom));
    await eventuallyChecked(simulator, 'c1', '00 COMPLETED');
    await control(simulator, 'PUT', 'faults', { callbacks: null });
    await payin(simulator, payinRequest('c2', safaricom));
    expect(await firstCallback(simulator)).toMatchObject({ merchant_reference: 'c2' });
  });

  it('answers no upstream request during an outage, and executes nothing', async () => {
    await using simulator = await startSimulator();
    await control(simulator, 'PUT', 'faults', { outage: true });
    const answer = await simulator.request('/collection/v1/payin', payinRequest('c1', safaricom));
    expect(answer.headers.get('x-hono-already-sent')).toBe('true');
    await control(simulator, 'PUT', 'faults', { outage: null });
    expect(await check(simulator, 'c1')).toBe('25 NOT FOUND');
  });

  it('keeps every webhook that reached a merchant, refused ones too, over a restart', async () => {
    await using simulator = await startSimulator();
    await control(simulator, 'PUT', 'faults', { merchantEndpoint: { status: 503, times: 1 } });
    const body = '{"data": {"merchantReference":"m1","transactionReference":"po-1"} }';
    const post = () => simulator.request('/merchant/demo/payouts', { method: 'POST', body });
    expect([(await post()).status, (await post()).status]).toEqual([503, 200]);
    await simulator.restart();
    for (const query of ['merchant=demo', 'reference=m1', 'merchant=demo&reference=po-1']) {
      const found = await control(simulator, 'GET', `received?${query}`);
      const webhook = expect.objectContaining({ path: '/merchant/demo/payouts', body }) as unknown;
      expect(found.body).toEqual({ webhooks: [webhook, webhook] });
    }
    const none = await control(simulator, 'GET', 'received?merchant=rival&reference=m1');
    expect(none.body).toEqual({ webhooks: [] });
  });

  it('sends webhooks on to a receiver as they came, and answers what it answers', async () => {
    await using simulator = await startSimulator();
    const arrived: unknown[] = [];
    const answers = [200, 500];
    const app = new Hono().post('/mine', async (context) => {
      arrived.push([context.req.header('webhook-signature'), await context.req.text()]);
      return context.body(null, (answers.shift() ?? 200) as 200);
    });
    await using receiver = await serveHttp({ app, host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${receiver.port}/mine`;
    const post = async (merchant: string) => {
      const init = { method: 'POST', headers: { 'webhook-signature': 'v1,x' }, body: '{"a": 1}' };
      return (await simulator.request(`/merchant/${merchant}/payouts`, init)).status;
    };
    expect(await control(simulator, 'PUT', 'receivers/demo', { url })).toMatchObject({ status: 200 });
    expect((await control(simulator, 'GET', 'receivers')).body).toEqual({ receivers: { demo: url } });
    expect([await post('demo'), await post('demo'), await post('rival')]).toEqual([200, 500, 200]);
    expect(arrived).toEqual(Array(2).fill(['v1,x', '{"a": 1}']));
    const nowhere = { url: 'http://127.0.0.1:1/' };
    await control(simulator, 'PUT', 'receivers/demo', nowhere);
    expect(await post('demo')).toBe(502);
    expect((await control(simulator, 'PUT', 'receivers/demo', { url: 'file:///etc' })).body).toMatchObject({
      message: 'url must be an http or https address',
    });
    await control(simulator, 'PUT', 'receivers/demo', { url: null });
    expect(await post('demo')).toBe(200);
  });

  it('refuses what it does not know, and changes nothing', async () => {
    await using simulator = await startSimulator();
    const before = await control(simulator, 'GET', 'wallets');
    const wallets = [
      { currency: 'KES', balance: '1' },
      { currency: 'GHS', balance: 'much' },
    ];
    expect((await control(simulator, 'PUT', 'wallets', { wallets })).status).toBe(400);
    expect((await control(simulator, 'PUT', 'faults', { outrage: true })).status).toBe(400);
    expect((await control(simulator, 'PUT', 'scenarios/12', { like: '0001' })).status).toBe(400);
    expect(await control(simulator, 'GET', 'wallets')).toEqual(before);
  });
});
