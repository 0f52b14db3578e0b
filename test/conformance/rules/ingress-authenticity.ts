import { eventually } from '@pesewa/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  callbackBody,
  ingress,
  type Kind,
  type Sent,
  secrets,
  signatureOf,
  signed,
  unknownReference,
} from '../ingress.ts';

const id = 'msg-1';
const now = (offset = 0): string => String(Math.floor(Date.now() / 1_000) + offset);
const headersOf = (timestamp: string, signature: string, messageId = id): readonly string[] => [
  'webhook-id',
  messageId,
  'webhook-timestamp',
  timestamp,
  'webhook-signature',
  signature,
];

/** Computes the headers for a body of the rail `signed`. */
type Sign = (body: string) => readonly string[];

const forgeries: readonly (readonly [string, string, Sign])[] = [
  ['no signature at all', 'signature.missing', () => []],
  ['no id', 'signature.missing', (body) => signed(body, secrets.current).slice(2)],
  ['an empty signature', 'signature.missing', () => headersOf(now(), '')],
  ['a signature of zeros', 'signature.wrong', () => headersOf(now(), `v1,${'A'.repeat(43)}=`)],
  ['the secret of another rail', 'signature.wrong', (body) => signed(body, secrets.other)],
  ['a signature over other bytes', 'signature.wrong', (body) => signed(`${body} `, secrets.current)],
  [
    'a signature over the same JSON, written otherwise',
    'signature.wrong',
    (body) => signed(JSON.stringify(JSON.parse(body), null, 2), secrets.current),
  ],
  [
    'a signature over another id',
    'signature.wrong',
    (body) => ['webhook-id', 'msg-2', ...signed(body, secrets.current, { id }).slice(2)],
  ],
  [
    'a signature over another time',
    'signature.wrong',
    (body) => {
      const signature = signatureOf({ id, timestamp: now(-10), body, secret: secrets.current });
      return headersOf(now(), `v1,${signature}`);
    },
  ],
  [
    'another algorithm under the right name',
    'signature.wrong',
    (body) => {
      const timestamp = now();
      const signature = signatureOf({ id, timestamp, body, secret: secrets.current, algorithm: 'sha1' });
      return headersOf(timestamp, `v1,${signature}`);
    },
  ],
  [
    'the right signature under another version',
    'signature.wrong',
    (body) => {
      const timestamp = now();
      return headersOf(timestamp, `v2,${signatureOf({ id, timestamp, body, secret: secrets.current })}`);
    },
  ],
  [
    'the right signature without a version',
    'signature.wrong',
    (body) => {
      const timestamp = now();
      return headersOf(timestamp, signatureOf({ id, timestamp, body, secret: secrets.current }));
    },
  ],
  [
    'the signature sent twice, once right',
    'signature.wrong',
    (body) => ['webhook-signature', `v1,${'A'.repeat(43)}=`, ...signed(body, secrets.current)],
  ],
  [
    'the id sent twice, once right',
    'signature.wrong',
    (body) => ['webhook-id', 'msg-9', ...signed(body, secrets.current)],
  ],
  [
    'the time sent twice, once right',
    'signature.wrong',
    (body) => ['webhook-timestamp', now(-1), ...signed(body, secrets.current)],
  ],
  [
    'a time that is none',
    'signature.wrong',
    (body) => {
      const timestamp = 'yesterday';
      return headersOf(timestamp, `v1,${signatureOf({ id, timestamp, body, secret: secrets.current })}`);
    },
  ],
  [
    'a time in milliseconds',
    'signature.wrong',
    (body) => {
      const timestamp = String(Date.now());
      return headersOf(timestamp, `v1,${signatureOf({ id, timestamp, body, secret: secrets.current })}`);
    },
  ],
  [
    'a right signature of six minutes ago',
    'signature.expired',
    (body) => signed(body, secrets.current, { ageSeconds: 360 }),
  ],
  [
    'a right signature from six minutes ahead',
    'signature.expired',
    (body) => signed(body, secrets.current, { ageSeconds: -360 }),
  ],
];

const genuine: readonly (readonly [string, Sign])[] = [
  ['the current secret', (body) => signed(body, secrets.current)],
  ['the old secret, during rotation', (body) => signed(body, secrets.old)],
  ['four minutes old', (body) => signed(body, secrets.current, { ageSeconds: 240 })],
  ['four minutes ahead', (body) => signed(body, secrets.current, { ageSeconds: -240 })],
  [
    'several signatures, one of them right',
    (body) => {
      const [, messageId = '', , timestamp = '', , right = ''] = signed(body, secrets.current);
      return headersOf(timestamp, `v1,${'A'.repeat(43)}= ${right}`, messageId);
    },
  ],
  [
    'header names in other letters',
    (body) => signed(body, secrets.current).map((text, index) => (index % 2 ? text : text.toUpperCase())),
  ],
];

/** A callback about an unknown payment, so that it is independent of other tests. */
function about(rail: string, kind: Kind): Sent & { readonly body: string; readonly ours: string } {
  const ours = unknownReference(kind);
  return { rail, kind, ours, body: callbackBody(kind, ours, { status: 'COMPLETED' }) };
}

async function expectRejected(sent: Sent, status: number, reason: string): Promise<void> {
  const answer = await ingress.send(sent);
  expect(answer.status).toBe(status);
  expect(answer.text).not.toMatch(/signature|webhook-|203\.0|secret/i);
  expect(await ingress.rejections(sent.body)).toEqual([reason]);
}

async function expectTaken(sent: Sent & { readonly ours: string }): Promise<void> {
  expect(await ingress.send(sent)).toMatchObject({ status: 200 });
  expect(await ingress.kept(sent.ours)).toHaveLength(1);
}

describe('contract 10.16: a rail with secrets', () => {
  describe.each(['payouts', 'collections'] as const)('callbacks of %s', (kind) => {
    it.each(forgeries)('are refused with %s (%s)', async (_what, reason, sign) => {
      const sent = about('signed', kind);
      await expectRejected({ ...sent, headers: sign(sent.body) }, 401, reason);
      expect(await ingress.kept(sent.ours)).toEqual([]);
    });

    it.each(genuine)('are taken with %s', async (_what, sign) => {
      const sent = about('signed', kind);
      await expectTaken({ ...sent, headers: sign(sent.body) });
    });
  });

  it('a callback without authentication is stored as evidence and never read', async () => {
    const body = Buffer.from('\u0000 no JSON, and the phone number 220345 9999');
    await expectRejected({ rail: 'signed', kind: 'payouts', body }, 401, 'signature.missing');
  });

  it('another rail’s right signature proves nothing here, nor does ours there', async () => {
    const sent = about('other', 'payouts');
    await expectRejected({ ...sent, headers: signed(sent.body, secrets.current) }, 401, 'signature.wrong');
    await expectTaken({ ...sent, headers: signed(sent.body, secrets.other) });
  });

  it('a replay is the same callback, however often it comes', async () => {
    const sent = about('signed', 'collections');
    const headers = signed(sent.body, secrets.current);
    await expectTaken({ ...sent, headers });
    expect(await ingress.send({ ...sent, headers })).toMatchObject({ status: 200 });
    expect(await ingress.kept(sent.ours)).toMatchObject([{ deliveries: '2' }]);
  });

  it('an id that comes again with other bytes is kept as a callback of its own, as a hint', async () => {
    const first = about('signed', 'collections');
    const other = about('signed', 'collections');
    await expectTaken({ ...first, headers: signed(first.body, secrets.current, { id: 'reused' }) });
    const headers = signed(other.body, secrets.current, { id: 'reused' });
    expect(await ingress.send({ ...other, headers })).toMatchObject({ status: 200 });
    expect(await ingress.rejections(other.body)).toEqual([]);
    expect(await ingress.kept(other.ours)).toMatchObject([{ deliveries: '1', timesPassedOn: '1' }]);
  });
});

describe('contract 10.16: a rail with addresses', () => {
  const forwarded = (value: string): readonly string[] => ['x-forwarded-for', value];
  const urls = new Map<number, string>();

  beforeAll(async () => {
    for (const proxies of [1, 2]) {
      const environment = { TRUSTED_PROXIES: String(proxies) };
      urls.set(proxies, (await ingress.scenario.stack.replicate('webhook-ingress', environment)).url);
    }
  });

  /** The number of trusted proxies, the header, and whether the sender counts as a listed one. */
  const senders: readonly (readonly [number, string | undefined, boolean])[] = [
    [0, undefined, false],
    [0, '203.0.113.7', false],
    [0, '203.0.113.7, 203.0.113.8', false],
    [1, undefined, false],
    [1, '', false],
    [1, '203.0.113.7', true],
    [1, '::ffff:203.0.113.7', true],
    [1, '2001:db8::17', true],
    [1, '198.51.100.1, 203.0.113.7', true],
    [1, '203.0.113.7, 198.51.100.1', false],
    [1, '203.0.113.7,', false],
    [1, 'unknown', false],
    [1, '203.0.113.7:4711', true],
    [1, '[2001:db8::17]:4711', true],
    [2, '203.0.113.7', false],
    [2, '203.0.113.7, 10.0.0.1', true],
    [2, '203.0.113.7, 198.51.100.1, 10.0.0.1', false],
    [2, '198.51.100.1, 203.0.113.7, 10.0.0.1', true],
  ];

  it.each(senders)(
    'with %d trusted proxies, X-Forwarded-For: %s is listed: %s',
    async (proxies, value, listed) => {
      const sent = about('fenced', 'payouts');
      const url = urls.get(proxies);
      const request = {
        ...sent,
        ...(url !== undefined && { url }),
        ...(value !== undefined && { headers: forwarded(value) }),
      };
      await (listed ? expectTaken(request) : expectRejected(request, 403, 'address.unlisted'));
    },
  );

  it('the header sent twice is read as one list', async () => {
    const url = urls.get(1) ?? '';
    const spoofed = { ...about('fenced', 'payouts'), url };
    const headers = [...forwarded('203.0.113.7'), ...forwarded('198.51.100.1')];
    await expectRejected({ ...spoofed, headers }, 403, 'address.unlisted');
  });

  it('takes what a listed address sends directly, whatever the header says', async () => {
    await expectTaken({ ...about('local', 'payouts'), headers: forwarded('198.51.100.1') });
  });

  it('without a list, anyone may send: callbacks are hints anyhow', async () => {
    const sent = about('upstream', 'payouts');
    await expectTaken(sent);
    await eventually(async () => expect(await ingress.timeline(sent.ours)).toContain('hint COMPLETED'));
  });
});
