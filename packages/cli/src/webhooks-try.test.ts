import { expect, it, vi } from 'vitest';
import { CliError } from './errors.ts';
import { commandLine } from './program.fixture.ts';

const met = {
  id: 'test-dl-1',
  address: 'https://shop.example/payouts',
  finding: 'delivered',
  rule: null,
  resolved: ['93.184.216.34'],
  connectedTo: '93.184.216.34',
  tls: { version: 'TLSv1.3', issuer: 'Example Authority', expiresAt: '2026-12-01T00:00:00.000Z' },
  tlsProblem: null,
  signature: { header: 'webhook-signature', count: 2, verifies: true },
  status: 200,
  error: null,
  durationMs: 35,
  deadlineMs: 10_000,
  isBodyCut: false,
  sentBody: '{"data":{}}',
};

it('tests an endpoint, and says that the sample belongs to no payment', async () => {
  const line = commandLine([{ status: 200, body: met }]);
  expect(await line.run('webhooks', 'test', 'demo', '--kind', 'collection')).toBe(0);
  expect(line.requests).toMatchObject([
    { url: 'http://webhooks/merchants/demo/test-webhook', body: { kind: 'collection' } },
  ]);
  expect(line.printed()).toBe(
    [
      'test       test-dl-1, which belongs to no payment',
      'address    https://shop.example/payouts',
      'resolved   93.184.216.34',
      'connected  93.184.216.34',
      'tls        TLSv1.3; the certificate is by Example Authority, until 2026-12-01T00:00:00.000Z',
      'signature  webhook-signature, by the new secret and the old one, verifies with the secret on record; if yours refuses it, compare the secret and the clock',
      'time       35 ms',
      'body       {"data":{}}',
      'result     the endpoint took it with 200',
      '',
    ].join('\n'),
  );
});

it.each<[Partial<Record<keyof typeof met, unknown>>, string]>([
  [{ finding: 'no_address', address: null }, 'set one with pesewa merchants set-webhooks demo --payouts-url'],
  [{ finding: 'address_refused', rule: 'address.port' }, 'never called, it must have no port'],
  [{ finding: 'name_not_public', resolved: ['10.0.0.1'] }, 'resolved   10.0.0.1'],
  [{ finding: 'name_unresolved', resolved: [] }, 'the name servers know no address of the host'],
  [{ finding: 'redirected', status: 302 }, 'answered 302, a redirect, which is not followed'],
  [{ finding: 'answered', status: 401, isBodyCut: true }, 'its body is longer than what is read'],
  [{ finding: 'answered', status: 500, tls: null }, 'tls        the certificate could not be read'],
  [
    { finding: 'answered', status: 500, tls: null, address: 'http://shop.example/' },
    'tls        none: the address is http',
  ],
  [{ finding: 'no_answer', error: 'tls', tlsProblem: 'cert_has_expired' }, 'it failed: cert has expired'],
  [{ finding: 'no_answer', error: 'timeout', status: null }, 'there was no answer: timeout (a whole attempt'],
])('explains what a sample met: %j', async (changes, said) => {
  const line = commandLine([{ status: 200, body: { ...met, ...changes } }]);
  expect(await line.run('webhooks', 'test', 'demo')).toBe(1);
  expect(line.printed()).toContain(said);
  expect(line.complained()).toMatch(/^pesewa: the sample was not delivered: /);
});

const deliveryAt = (id: string, atMs: number) => ({
  id,
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'exhausted',
  attempts: 12,
  createdAt: new Date(atMs).toISOString(),
  dueAt: null,
  lastStatus: 503,
  lastError: null,
  reason: 'every attempt failed',
});
const signed = { body: '{"data":{}}', headers: { 'webhook-id': 'po-1', 'webhook-signature': 'v1,x' } };
const down = () => Promise.reject(new CliError('http://localhost:8080 does not answer'));
const FORWARD = ['--forward-to', 'http://localhost:8080'];

it('sends a signed sample to a program on this machine', async () => {
  const line = commandLine([{ status: 200, body: signed }]);
  expect(await line.run('webhooks', 'test', 'demo', ...FORWARD)).toBe(0);
  expect(line.requests).toMatchObject([
    { url: 'http://webhooks/merchants/demo/test-webhook/sign', body: { kind: 'payout' } },
  ]);
  expect(line.forwarded).toEqual([{ url: 'http://localhost:8080/', ...signed }]);
  expect(line.printed()).toBe('po-1  200 in 0 ms\n');
});

it.each([
  ['the sample was not taken: http://localhost:8080/ answered 500', async () => 500],
  ['http://localhost:8080 does not answer', down],
])('fails where a program on this machine does not take a sample: %s', async (said, answer) => {
  const line = commandLine([{ status: 200, body: signed }]);
  line.receiverAnswers.push(answer);
  expect(await line.run('webhooks', 'test', 'demo', ...FORWARD)).toBe(1);
  expect(line.complained()).toBe(`pesewa: ${said}\n`);
});

/** A service that has these webhooks, round by round. */
function rounds(...created: readonly (readonly object[])[]) {
  let round = 0;
  return commandLine((url) => {
    if (url.endsWith('/sign')) return { status: 200, body: signed };
    const items = created[Math.min(round, created.length - 1)];
    round += 1;
    return { status: 200, body: { items, next: null } };
  });
}

it('forwards each new webhook once as the service signed it, and not those of before', async () => {
  const before = deliveryAt('po-0', -1_000);
  const [one, two, late] = [deliveryAt('po-1', 500), deliveryAt('po-2', 1_500), deliveryAt('po-3', 700)];
  const line = rounds([before], [before, one], [before, one, two], [before, one, late, two]);
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD, '--count', '3')).toBe(0);
  expect(line.requests.filter((asked) => typeof asked === 'object')).toMatchObject([
    { url: 'http://webhooks/merchants/demo/test-webhook/sign', body: { kind: 'payout' } },
    ...['po-1', 'po-2', 'po-3'].map((id) => ({ url: `http://webhooks/deliveries/${id}/sign` })),
  ]);
  expect(line.forwarded).toEqual(Array(3).fill({ url: 'http://localhost:8080/', ...signed }));
  expect(line.printed()).toContain('1970-01-01T00:00:00.500Z  po-1  payout completed  200 in 0 ms\n');
});

it('begins where it is told to, and stops after as many as it is told to', async () => {
  const line = rounds([deliveryAt('po-1', 500), deliveryAt('po-2', 600)]);
  const since = ['--since', '1970-01-01T00:00:00Z'];
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD, ...since, '--count', '1')).toBe(0);
  expect(line.requests[1]).toBe(
    'http://webhooks/deliveries?merchantId=demo&from=1970-01-01T00%3A00%3A00.000Z',
  );
  expect(line.forwarded).toHaveLength(1);
});

it('forwards in their order what met no receiver, once there is one, and says so once for each', async () => {
  const line = rounds([deliveryAt('po-1', 500), deliveryAt('po-2', 600)]);
  line.receiverAnswers.push(down, down, async () => 500, down);
  const since = ['--since', '1970-01-01T00:00:00Z'];
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD, ...since, '--count', '2')).toBe(0);
  const signedInTurn = line.requests.filter((asked) => typeof asked === 'object').slice(1);
  expect(signedInTurn).toMatchObject(
    ['po-1', 'po-1', 'po-1', 'po-2', 'po-2'].map((id) => ({ url: `http://webhooks/deliveries/${id}/sign` })),
  );
  expect(line.printed()).toContain('po-1  payout completed  500 in 0 ms\n');
  expect(line.printed()).toContain('po-2  payout completed  200 in 0 ms\n');
  expect(line.complained()).toBe('http://localhost:8080 does not answer: trying again\n'.repeat(2));
});

it('tries less and less often while there is no receiver, as each try is recorded, and then at once as before', async () => {
  const line = rounds([deliveryAt('po-1', 500), deliveryAt('po-2', 600)]);
  line.receiverAnswers.push(...Array.from({ length: 7 }, () => down), async () => 200, down, down);
  const slept = vi.spyOn(line.ports.clock, 'sleep');
  const since = ['--since', '1970-01-01T00:00:00Z'];
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD, ...since, '--count', '2')).toBe(0);
  const seconds = slept.mock.calls.map(([durationMs]) => durationMs / 1_000);
  expect(seconds).toEqual([1, 2, 4, 8, 16, 30, 30, 1, 2]);
});

it('goes on while the service is away, and ends where it refuses', async () => {
  const answers = [
    { status: 200, body: signed },
    { status: 200, body: { items: [], next: null } },
    { status: 503, body: undefined },
    { status: 401, body: { code: 'unauthorized', message: 'no such token' } },
  ];
  const line = commandLine(answers);
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD)).toBe(1);
  expect(line.complained()).toBe(
    'webhook-dispatcher: answered 503, no reason given: trying again\npesewa: webhook-dispatcher: no such token\n',
  );
});

it('goes on where a merchant is not known yet, and where a page or a webhook is gone', async () => {
  const notFound = { status: 404, body: { code: 'not_found', message: 'begin again' } };
  const items = [deliveryAt('po-1', 500), deliveryAt('po-2', 600)];
  const page = { status: 200, body: { items, next: null } };
  const line = commandLine([notFound, notFound, page, notFound, { status: 200, body: signed }]);
  const since = ['--since', '1970-01-01T00:00:00Z'];
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD, ...since, '--count', '2')).toBe(0);
  expect(line.complained()).toBe(
    [
      'demo is not known yet; listening all the same. All ids: pesewa merchants list',
      'webhook-dispatcher: begin again: trying again',
      'po-1 is gone, and is passed over',
      '',
    ].join('\n'),
  );
  expect(line.printed()).toContain('po-2  payout completed  200 in 0 ms\n');
});

it('ends at once with a token that may not sign', async () => {
  const line = commandLine([{ status: 403, body: { code: 'forbidden', message: 'needs an operator' } }]);
  expect(await line.run('webhooks', 'listen', 'demo', ...FORWARD)).toBe(1);
  expect(line.requests).toHaveLength(1);
});

it.each(['localhost:8080', 'ftp://localhost', 'http://user:secret@localhost'])(
  'forwards to no %s',
  async (url) => {
    const line = commandLine();
    expect(await line.run('webhooks', 'listen', 'demo', '--forward-to', url)).toBe(1);
    expect(line.complained()).toContain('--forward-to: write an http or https address without a password');
    expect(line.complained()).not.toContain('secret');
  },
);
