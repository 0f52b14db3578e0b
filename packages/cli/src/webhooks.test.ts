import { ENDPOINTS_MAX } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const failing = {
  merchantId: 'demo',
  endpoint: 'payouts',
  state: 'failing',
  pending: 12,
  failing: 3,
  deferred: 0,
  exhausted: 7,
  cut: ['exhausted'],
  failingSince: '2026-01-02T01:04:05.000Z',
  lastSuccessAt: '2026-01-01T03:04:05.000Z',
  oldestCreatedAt: '2026-01-02T03:04:05.000Z',
  nextAt: '2026-01-02T04:04:05.000Z',
  lastStatus: 503,
  lastError: null,
};
const waiting = {
  ...failing,
  merchantId: 'shop',
  endpoint: 'https://shop.example',
  state: 'waiting',
  pending: 1,
  failing: 0,
  exhausted: 0,
  cut: [],
  failingSince: null,
  lastSuccessAt: null,
  lastStatus: null,
};
const endpoints = (items: readonly object[]) => [{ status: 200, body: { items, next: null } }];

it('shows the endpoints that are owed webhooks', async () => {
  const line = commandLine(endpoints([failing, waiting]));
  expect(await line.run('webhooks', 'endpoints')).toBe(0);
  expect(line.requests).toEqual(['http://webhooks/endpoints']);
  const [from, next] = [failing.oldestCreatedAt, failing.nextAt];
  const [since, success] = [failing.failingSince, failing.lastSuccessAt];
  expect(line.printed()).toBe(
    [
      'MERCHANT  ENDPOINT              STATE    OWED  FAILING  DEFERRED  GIVEN UP  FAILS SINCE               LAST SUCCESS              OLDEST                    NEXT ATTEMPT              LAST ANSWER',
      `demo      payouts               failing    12        3         0        7+  ${since}  ${success}  ${from}  ${next}  503`,
      `shop      https://shop.example  waiting     1        0         0         0  -                         -                         ${from}  ${next}  -`,
      '',
    ].join('\n'),
  );
});

it('says that none are owed, and why an endpoint did not answer', async () => {
  const none = commandLine(endpoints([]));
  await none.run('webhooks', 'endpoints');
  expect(none.printed()).toBe('no webhooks are owed\n');
  const unreachable = commandLine(endpoints([{ ...failing, lastStatus: null, lastError: 'tls' }]));
  await unreachable.run('webhooks', 'endpoints');
  expect(unreachable.printed()).toMatch(/ {2}tls\n$/);
});

it('says that there may be more than the service shows; JSON is what it shows alone', async () => {
  const all = endpoints(Array.from({ length: ENDPOINTS_MAX }, () => failing));
  const table = commandLine(all);
  await table.run('webhooks', 'endpoints');
  expect(table.printed()).toMatch(/\nthese are the first 100: there may be more\n$/);
  const json = commandLine(all);
  await json.run('webhooks', 'endpoints', '--json');
  expect(JSON.parse(json.printed())).toHaveLength(ENDPOINTS_MAX);
});

const delivery = {
  id: 'po-1-completed',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'exhausted',
  attempts: 12,
  createdAt: '2026-01-02T03:04:05.000Z',
  dueAt: null,
  lastStatus: 503,
  lastError: null,
  reason: 'every attempt failed',
};
const page = (items: readonly object[], next: string | null = null) => ({
  status: 200,
  body: { items, next },
});

it.each<[readonly string[], string]>([
  [[], 'state=exhausted'],
  [['po-1'], 'reference=po-1'],
  [['order-1', '--state', 'discarded'], 'reference=order-1&state=discarded'],
  [['--merchant', 'demo'], 'merchantId=demo'],
  [
    [
      '--merchant',
      'demo',
      '--state',
      'pending',
      '--from',
      '2026-01-02',
      '--to',
      '2026-01-03',
      '--after',
      'po-0',
    ],
    'state=pending&merchantId=demo&from=2026-01-02T00%3A00%3A00.000Z&to=2026-01-03T00%3A00%3A00.000Z&after=po-0',
  ],
])('lists webhooks with the reference of the merchant beside ours: %j', async (options, query) => {
  const line = commandLine([page([delivery])]);
  expect(await line.run('webhooks', 'list', ...options)).toBe(0);
  expect(line.requests).toEqual([`http://webhooks/deliveries?${query}`]);
  expect(line.printed()).toMatch(
    /^po-1-completed +exhausted +demo +po-1 +order-1 +payout completed +12 +- +every attempt failed, 503$/m,
  );
});

it.each([
  [[], 'none was given up; those of a merchant: --merchant, with its id\n'],
  [['demo'], 'no webhooks of a payment demo; those of a merchant: --merchant, with its id\n'],
  [['--state', 'pending'], 'no such webhooks\n'],
])('says what an empty list has none of: %j', async (options, text) => {
  const none = commandLine([page([])]);
  await none.run('webhooks', 'list', ...options);
  expect(none.printed()).toBe(text);
});

it('says that there are more webhooks than are shown; JSON keeps the codes', async () => {
  const cut = commandLine([page([delivery, { ...delivery, id: 'po-2-completed' }])]);
  await cut.run('webhooks', 'list', '--limit', '1');
  expect(cut.printed()).toMatch(/\nthere are more: raise --limit, or go on with --after po-1-completed\n$/);
  const json = commandLine([page([delivery])]);
  await json.run('webhooks', 'list', '--json');
  expect(JSON.parse(json.printed())).toEqual([delivery]);
});

it('sends a webhook again', async () => {
  const line = commandLine([{ status: 202, body: { id: delivery.id, state: 'pending' } }]);
  expect(await line.run('webhooks', 'resend', delivery.id)).toBe(0);
  const url = `http://webhooks/deliveries/${delivery.id}`;
  expect(line.requests).toEqual([{ url: `${url}/resend`, token: 'operator-token-of-tests', body: {} }]);
  expect(line.printed()).toBe('po-1-completed is due now\n');
});

it.each([
  [['--dry-run'], { dryRun: true }, 'would be enabled'],
  [[], {}, 'is enabled'],
])('enables an endpoint, or says what would go out: %j', async (options, asked, done) => {
  const endpoint = { merchantId: 'demo', endpoint: 'https://shop.example' };
  const enabled = {
    ...endpoint,
    waiting: 1_234,
    failingSince: failing.failingSince,
    enabled: done === 'is enabled',
  };
  const line = commandLine([{ status: 200, body: enabled }]);
  expect(await line.run('webhooks', 'enable', 'demo', 'https://shop.example', ...options)).toBe(0);
  expect(line.requests).toEqual([
    {
      url: 'http://webhooks/endpoints/enable',
      token: 'operator-token-of-tests',
      body: { ...endpoint, ...asked },
    },
  ]);
  expect(line.printed()).toBe(
    `https://shop.example of demo ${done}: webhooks that wait for it: 1,234; it had failed since ${failing.failingSince}\n`,
  );
});

it('shows one webhook without its signature, and what each attempt met', async () => {
  const detail = {
    ...delivery,
    address: 'https://shop.example/payouts',
    body: '{"data":{}}',
    headers: { 'webhook-id': delivery.id, 'webhook-timestamp': '1767323045' },
  };
  const attempts = [{ at: '2026-01-02T03:04:05.000Z', error: 'timeout', durationMs: 10_000 }];
  const answerOf = (url: string) =>
    url.endsWith('/attempts') ? page(attempts) : { status: 200, body: detail };
  const line = commandLine(answerOf);
  expect(await line.run('webhooks', 'show', delivery.id)).toBe(0);
  expect(line.printed()).toContain(
    'webhook-timestamp  1767323045\nwebhook-signature  made anew for each attempt\n',
  );
  expect(line.printed()).toContain('body               {"data":{}}\n');
  expect(line.printed()).toMatch(/2026-01-02T03:04:05.000Z {2}timeout {2}10000\n$/);
  const json = commandLine(answerOf);
  await json.run('webhooks', 'show', delivery.id, '--json');
  expect(JSON.parse(json.printed())).toEqual({ ...detail, attempts });
});

it('refuses times without a merchant, and a period that ends before it begins', async () => {
  const timeless = commandLine();
  expect(await timeless.run('webhooks', 'list', '--from', '2026-01-02')).toBe(1);
  expect(timeless.complained()).toContain('--merchant: --from and --to are times of one merchant: name it');
  const backwards = commandLine();
  const period = ['--merchant', 'demo', '--from', '2026-01-02', '--to', '2026-01-01'];
  expect(await backwards.run('webhooks', 'list', ...period)).toBe(1);
  expect(backwards.complained()).toContain('--from: 2026-01-02 is not before 2026-01-01');
});

const due = { status: 202, body: { id: delivery.id, state: 'pending' } };
const resends = (requests: readonly unknown[]) =>
  requests.flatMap((one) =>
    typeof one === 'object' && one !== null && 'url' in one ? [String(one.url)] : [],
  );
const urlOfResend = (id: string) => `http://webhooks/deliveries/${id}/resend`;

it('resends all that a filter found before the first was sent, at the rate that was asked for', async () => {
  const pages = [page([delivery, { ...delivery, id: 'po-2' }], 'po-2'), page([{ ...delivery, id: 'po-3' }])];
  const line = commandLine([...pages, due]);
  expect(await line.run('webhooks', 'resend', '--merchant', 'demo', '--per-second', '2')).toBe(0);
  expect(line.requests.slice(0, 2)).toEqual([
    'http://webhooks/deliveries?merchantId=demo&state=exhausted',
    'http://webhooks/deliveries?merchantId=demo&state=exhausted&after=po-2',
  ]);
  expect(resends(line.requests)).toEqual(['po-1-completed', 'po-2', 'po-3'].map(urlOfResend));
  expect(line.printed()).toMatch(
    /^po-1-completed is due now\npo-2 is due now\npo-3 is due now\n3 webhooks are due now\n$/,
  );
  expect(line.shown).toContain('2 of 3');
  expect(line.ports.clock.nowMs()).toBe(1_000);
});

it('says how many a resend or a replay would send, and sends none', async () => {
  const line = commandLine([page([delivery, { ...delivery, id: 'po-2' }])]);
  expect(await line.run('webhooks', 'resend', '--state', 'discarded', '--dry-run')).toBe(0);
  expect(line.printed()).toBe('2 webhooks would be sent again\n');
  const replay = commandLine([page([delivery])]);
  const period = ['--from', '1969-12-01', '--to', '1970-01-01T00:00:00Z'];
  expect(await replay.run('webhooks', 'replay', 'demo', ...period, '--after', 'po-0', '--dry-run')).toBe(0);
  expect(replay.requests).toEqual([
    'http://webhooks/deliveries?merchantId=demo&from=1969-12-01T00%3A00%3A00.000Z&to=1970-01-01T00%3A00%3A00.000Z&state=delivered&after=po-0',
  ]);
  expect(replay.printed()).toBe('1 webhook would be sent again\n');
});

it('a resend without ids or a filter, or with both, is refused; a replay needs a time', async () => {
  for (const given of [[], ['po-1', '--merchant', 'demo'], ['po-1', '--after', 'po-0']]) {
    const line = commandLine([due]);
    expect(await line.run('webhooks', 'resend', ...given)).toBe(1);
    expect(line.complained()).toContain('ids: give ids, or --merchant or --state');
    expect(line.requests).toEqual([]);
  }
  const replay = commandLine([page([delivery])]);
  expect(await replay.run('webhooks', 'replay', 'demo')).toBe(1);
  expect(replay.requests).toEqual([]);
});

it('goes on over a webhook that is gone, and says where to go on where the service stopped answering', async () => {
  const gone = { status: 404, body: { code: 'not_found', message: 'there is no such delivery' } };
  const some = commandLine([due, gone, due]);
  expect(await some.run('webhooks', 'resend', 'po-1', 'po-2', 'po-3')).toBe(1);
  expect(some.printed()).toContain('po-2 is gone, or never was\npo-3 is due now\n2 webhooks are due now\n');
  expect(some.complained()).toContain('1 of 3 are gone');
  const down = commandLine([due, { status: 503, body: undefined }]);
  expect(await down.run('webhooks', 'resend', 'po-1', 'po-2', 'po-3')).toBe(1);
  expect(down.complained()).toContain('(1 of 3 are due; to go on: --after po-1)');
});
