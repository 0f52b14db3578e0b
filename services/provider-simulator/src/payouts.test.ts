import { parseJson, payoutEnvelope, payoutRecord, payoutWebhook } from '@pesewa/contracts';
import { serveHttp } from '@pesewa/runtime';
import { request as httpRequest } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  batchRequest,
  bulkPayout,
  control,
  eventually,
  payoutHeaders,
  payoutRequest,
  singlePayout,
  startSimulator,
} from './simulator.fixture.ts';

type Started = Awaited<ReturnType<typeof startSimulator>>;

async function submit(simulator: Started, reference: string, digits: string) {
  const answer = await simulator.request(singlePayout, payoutRequest(reference, digits));
  return { status: answer.status, headers: answer.headers, envelope: await readEnvelope(answer) };
}

async function readEnvelope(answer: Response) {
  const text = await answer.text();
  if (text === '' || text.endsWith('{')) return { text, responseCode: undefined, responseData: undefined };
  return { text, ...payoutEnvelope.parse(parseJson(text)) };
}

async function lookUp(simulator: Started, reference: string) {
  const answer = await simulator.request(`/api/v1/transactions/${reference}/query`, {
    headers: payoutHeaders,
  });
  const envelope = payoutEnvelope.parse(parseJson(await answer.text()));
  if (envelope.responseCode !== '00') return { code: envelope.responseCode, httpStatus: answer.status };
  return payoutRecord.parse(envelope.responseData);
}

async function executions(simulator: Started, reference: string) {
  const { body } = await control(simulator, 'GET', `journal?reference=${reference}`);
  const { entries } = body as { entries: { kind: string; outcome: string }[] };
  return entries.filter(({ kind }) => kind === 'execution').map(({ outcome }) => outcome);
}

const status = async (simulator: Started, reference: string) => {
  const found = await lookUp(simulator, reference);
  return 'transactionStatus' in found ? found.transactionStatus : found.code;
};

describe('a payout is answered as its magic digits say (contract 10.18)', () => {
  it.each([
    ['4321', 200, '09', 'COMPLETED', 1],
    ['0001', 200, '09', 'FAILED', 1],
    ['0002', 200, '09', 'COMPLETED', 0],
    ['0003', 200, '09', 'FAILED', 0],
    ['0004', 500, '96', 'COMPLETED', 1],
    ['0010', 200, '09', 'COMPLETED', 1],
    ['0016', 200, undefined, 'COMPLETED', 1],
  ])('%s: HTTP %d, code %s, then %s with %d callback', async (digits, http, code, end, callbacks) => {
    await using simulator = await startSimulator();
    const answer = await submit(simulator, 'r1', digits);
    expect([answer.status, answer.envelope.responseCode]).toEqual([http, code]);
    expect(await status(simulator, 'r1')).toBe(end);
    expect(await executions(simulator, 'r1')).toEqual([end]);
    await submit(simulator, 'r2', '4321');
    // The second payout's callback comes after any callback of the first would have.
    await eventually(() => (simulator.callbacks.length > callbacks ? true : undefined));
    const ofFirst = simulator.callbacks.map((body) => payoutWebhook.parse(parseJson(body)).data);
    const claimed = ofFirst.filter(({ merchantReference }) => merchantReference === 'r1');
    expect(claimed.map(({ transactionStatus }) => transactionStatus)).toEqual(Array(callbacks).fill(end));
  });

  it('0010 has called back before it answers', async () => {
    await using simulator = await startSimulator();
    await submit(simulator, 'r1', '0010');
    expect(simulator.callbacks).toHaveLength(1);
  });

  it('0013 is unknown for five seconds', async () => {
    await using simulator = await startSimulator();
    await submit(simulator, 'r1', '0013');
    expect(await lookUp(simulator, 'r1')).toEqual({ code: '25', httpStatus: 400 });
    simulator.setForward(5_000);
    expect(await status(simulator, 'r1')).toBe('COMPLETED');
  });

  it('0015 is asked to retry twice', async () => {
    await using simulator = await startSimulator();
    const [first, second, third] = [
      await submit(simulator, 'r1', '0015'),
      await submit(simulator, 'r1', '0015'),
      await submit(simulator, 'r1', '0015'),
    ];
    expect([first.status, second.status, third.status]).toEqual([429, 429, 200]);
    expect(first.headers.get('retry-after')).toBe('1');
  });

  it('0005, 0006 and 0007 cut the connection: executed, not executed, and executed without an answer', async () => {
    await using simulator = await startSimulator();
    await using server = await serveHttp({ app: simulator.app(), host: '127.0.0.1', port: 0 });
    const post = async (reference: string, digits: string) => {
      const { headers, body } = payoutRequest(reference, digits);
      const answer = await httpRequest(`http://127.0.0.1:${server.port}${singlePayout}`, {
        method: 'POST',
        headers,
        body,
      });
      return answer.statusCode;
    };
    await expect(post('r5', '0005')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(post('r6', '0006')).rejects.toMatchObject({ code: 'ECONNRESET' });
    const unanswered = post('r7', '0007').catch((error: unknown) => error);
    await eventually(async () => ((await status(simulator, 'r7')) === 'COMPLETED' ? true : undefined));
    simulator.releaseHeld();
    expect(await unanswered).toMatchObject({ code: 'ECONNRESET' });
    expect(await status(simulator, 'r5')).toBe('COMPLETED');
    expect(await status(simulator, 'r6')).toBe('25');
    expect(await post('r6', '0006')).toBe(200);
    expect(await executions(simulator, 'r6')).toEqual(['COMPLETED']);
  });
});

describe('a reversal on demand', () => {
  it('gives a completed payout back once, with a callback', async () => {
    await using simulator = await startSimulator();
    await submit(simulator, 'r1', '4321');
    await eventually(() => (simulator.callbacks.length > 0 ? true : undefined));
    const reverse = () => control(simulator, 'PUT', 'reversals/r1');
    const reversed = { status: 200, body: { reference: 'r1', status: 'REVERSED' } };
    expect([await reverse(), await reverse()]).toEqual([reversed, reversed]);
    expect(await status(simulator, 'r1')).toBe('REVERSED');
    await eventually(() => (simulator.callbacks.length > 1 ? true : undefined));
    const claimed = simulator.callbacks.map(
      (body) => payoutWebhook.parse(parseJson(body)).data.transactionStatus,
    );
    expect(claimed).toEqual(['COMPLETED', 'REVERSED']);
  });

  it('is refused for one that failed, is pending, or was never sent', async () => {
    await using simulator = await startSimulator();
    await submit(simulator, 'failed', '0001');
    await submit(simulator, 'pending', '0017');
    const statuses = [];
    for (const reference of ['failed', 'pending', 'nobody'])
      statuses.push((await control(simulator, 'PUT', `reversals/${reference}`)).status);
    expect(statuses).toEqual([409, 409, 404]);
  });
});

describe('a reference is executed once', () => {
  it('refuses it with 94, however many come at once', async () => {
    await using simulator = await startSimulator();
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(simulator, 'r1', '4321')));
    const codes = answers.map(({ envelope }) => envelope.responseCode);
    expect(codes.filter((code) => code === '09')).toHaveLength(1);
    expect(codes.filter((code) => code === '94')).toHaveLength(19);
    expect(await executions(simulator, 'r1')).toEqual(['COMPLETED']);
  });

  it('knows it after a restart, and goes on with what was pending', async () => {
    await using simulator = await startSimulator({ CALLBACK_DELAY_MS: '60000' });
    await submit(simulator, 'r1', '4321');
    await submit(simulator, 'r8', '0008');
    await control(simulator, 'PUT', 'wallets', { wallets: [{ currency: 'KES', balance: '500' }] });
    expect(await status(simulator, 'r8')).toBe('INITIALIZED');
    simulator.setForward(60_000);
    await simulator.restart();
    expect((await submit(simulator, 'r1', '4321')).status).toBe(409);
    await eventually(async () => ((await status(simulator, 'r8')) === 'COMPLETED' ? true : undefined));
    await eventually(() => (simulator.callbacks.length === 1 ? true : undefined));
    const { body } = await control(simulator, 'GET', 'wallets');
    const { wallets } = body as { wallets: { currency: string; balance: string }[] };
    expect(wallets.find(({ currency }) => currency === 'KES')?.balance).toBe('399');
    await simulator.restart();
    expect((await control(simulator, 'GET', 'wallets')).body).toEqual(body);
  });
});

describe('the payout API refuses', () => {
  it('a wrong key, a body without a field, and an amount that is none', async () => {
    await using simulator = await startSimulator();
    const wrongKey = await simulator.request(singlePayout, payoutRequest('r1', '4321', 'd3Jvbmc='));
    expect([wrongKey.status, (await readEnvelope(wrongKey)).responseCode]).toEqual([401, '63']);
    const headers = { ...payoutHeaders, 'content-type': 'application/json' };
    const empty = await simulator.request(singlePayout, { method: 'POST', headers, body: '{}' });
    expect([empty.status, (await readEnvelope(empty)).responseCode]).toEqual([400, '30']);
    const fine = payoutRequest('r1', '4321').body.replace('100.5', '0.001');
    const tooFine = await simulator.request(singlePayout, { method: 'POST', headers, body: fine });
    expect([tooFine.status, (await readEnvelope(tooFine)).responseCode]).toEqual([400, '13']);
    expect(await executions(simulator, 'r1')).toEqual([]);
  });

  it.each([
    ['a KES payout without its type', { transactionType: '' }, 400, '30'],
    [
      'a KES payout whose sender names no country',
      { sender: { name: 'S', email: 's@x.example' } },
      400,
      '30',
    ],
    ['a payout to South Africa without the identification', { country: 'ZAF', currency: 'ZAR' }, 400, '30'],
    ['a processor that there is not', { bankCode: '99' }, 422, '92'],
    ['an inactive processor', { bankCode: 'KEN-OFF' }, 422, '92'],
    ['a blocked processor', { bankCode: 'KEN-BLOCKED' }, 422, '92'],
  ])('%s (contract 2.2)', async (_what, change, httpStatus, code) => {
    await using simulator = await startSimulator();
    const { headers, body } = payoutRequest('r1', '4321');
    const { bankCode = '68', ...rest } = change as { bankCode?: string };
    const text = JSON.stringify({ ...JSON.parse(body), ...rest }).replace(
      '"bankCode":"68"',
      `"bankCode":"${bankCode}"`,
    );
    const answer = await simulator.request(singlePayout, { method: 'POST', headers, body: text });
    expect([answer.status, (await readEnvelope(answer)).responseCode]).toEqual([httpStatus, code]);
    expect(await executions(simulator, 'r1')).toEqual([]);
  });
});

describe('a batch is taken on as a whole or not at all (contract 4.2)', () => {
  const send = async (simulator: Started, ...batch: Parameters<typeof batchRequest>) => {
    const answer = await simulator.request(bulkPayout, batchRequest(...batch));
    return { status: answer.status, envelope: await readEnvelope(answer) };
  };
  const two = [
    { reference: 'i1', digits: '4321' },
    { reference: 'i2', digits: '0001' },
  ];

  it('answers without data, and its items are payments like any other', async () => {
    await using simulator = await startSimulator();
    const { status: http, envelope } = await send(simulator, 'b1', two);
    expect([http, envelope.responseCode, envelope.responseData]).toEqual([200, '09', undefined]);
    expect([await status(simulator, 'i1'), await status(simulator, 'i2')]).toEqual(['COMPLETED', 'FAILED']);
    await eventually(() => (simulator.callbacks.length === 2 ? true : undefined));
    expect(await status(simulator, 'b1')).toBe('25');
  });

  it.each([
    [
      'an item used before',
      'b2',
      [
        { reference: 'i3', digits: '4321' },
        { reference: 'i1', digits: '4321' },
      ],
    ],
    ['the batch used before', 'b1', [{ reference: 'i3', digits: '4321' }]],
    ['the batch used as an item before', 'i1', [{ reference: 'i3', digits: '4321' }]],
    [
      'an item used as a batch before',
      'b2',
      [
        { reference: 'i3', digits: '4321' },
        { reference: 'b1', digits: '4321' },
      ],
    ],
  ])('%s: 94, after a restart too, and nothing of it is paid', async (_what, reference, items) => {
    await using simulator = await startSimulator();
    await send(simulator, 'b1', two);
    await simulator.restart();
    const { status: http, envelope } = await send(simulator, reference, items);
    expect([http, envelope.responseCode]).toEqual([409, '94']);
    expect(await executions(simulator, 'i3')).toEqual([]);
    expect((await submit(simulator, 'b1', '4321')).envelope.responseCode).toBe('94');
  });

  it.each([
    ['a total that is not the sum', { totalAmount: 1 }, '13'],
    ['no items', { beneficiaries: [] }, '30'],
    ['an unknown country', { country: 'Nowhere' }, '30'],
    ['a currency without that processor', { currency: 'NGN' }, '92'],
  ])('%s: nothing is paid', async (_what, changes, code) => {
    await using simulator = await startSimulator();
    expect((await send(simulator, 'b1', two, changes)).envelope.responseCode).toBe(code);
    expect(await executions(simulator, 'i1')).toEqual([]);
  });

  it('one item that is turned away turns all away, and a resubmission is taken on (0015)', async () => {
    await using simulator = await startSimulator();
    const items = [
      { reference: 'i1', digits: '4321' },
      { reference: 'i2', digits: '0015' },
    ];
    for (const code of ['65', '65', '09']) {
      expect(await executions(simulator, 'i1')).toEqual([]);
      expect((await send(simulator, 'b1', items)).envelope.responseCode).toBe(code);
    }
    expect(await executions(simulator, 'i1')).toEqual(['COMPLETED']);
  });

  it('executed, it may yet answer 500 as one of its items has it (0004)', async () => {
    await using simulator = await startSimulator();
    expect((await send(simulator, 'b1', [{ reference: 'i1', digits: '0004' }])).status).toBe(500);
    expect(await executions(simulator, 'i1')).toEqual(['COMPLETED']);
  });
});
