import { isBulkheadRejectedError } from 'cockatiel';
import { describe, expect, it } from 'vitest';
import { createCachedDirectory } from './directory.ts';
import { createPublicKey, hashOfHeader, hashPublicKey, publicKeyPattern, withKey } from './keys.ts';
import { type Merchant, type MerchantKey, readMerchant } from './merchant.ts';

const PUBLIC_KEY = 'demo-public-key_0001';
const header = (publicKey: string) => Buffer.from(publicKey).toString('base64');
const schedule = { fixedMinor: 0n, basisPoints: 150n, minimumMinor: 100n };
const keyOf = (publicKey: string, more: Partial<MerchantKey> = {}): MerchantKey => ({
  hash: hashPublicKey(publicKey),
  scopes: ['payouts', 'collections'],
  createdAt: new Date(0),
  ...more,
});
const document = {
  _id: 'demo',
  name: 'Demo',
  status: 'active',
  keys: [keyOf(PUBLIC_KEY)],
  allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'],
  signing: { isRequired: true, secrets: [`rqsec_${'s'.repeat(43)}=`] },
  wallets: [{ currency: 'KES', country: 'KEN', payoutFee: schedule, collectionFee: schedule }],
  webhooks: {
    payoutsUrl: 'https://shop.example/p',
    collectionsUrl: null,
    secrets: [`whsec_${'A'.repeat(43)}=`],
  },
  limits: { requestsPerSecond: 50 },
  createdAt: new Date(0),
};

function createFixture(ttlMs?: number) {
  const overdue = Promise.withResolvers<void>();
  const clock = { now: 1_000_000, nowMs: () => clock.now, sleep: () => overdue.promise };
  const known = new Map<string, Merchant>([[hashPublicKey(PUBLIC_KEY), readMerchant(document)]]);
  const asked: string[] = [];
  let failure: Error | undefined;
  let stalled = false;
  const directory = createCachedDirectory({
    clock,
    ttlMs,
    loader: {
      byKeyHash: async (keyHash) => {
        asked.push(keyHash);
        if (failure) throw failure;
        if (stalled) await new Promise(() => undefined);
        return known.get(keyHash);
      },
      byId: async (id) => {
        asked.push(id);
        return [...known.values()].find((merchant) => merchant.id === id);
      },
    },
  });
  return {
    clock,
    known,
    asked,
    directory,
    failWith: (error?: Error) => void (failure = error),
    stall: (now: boolean) => void (stalled = now),
    /** From now on every read is overdue. */
    letTimePass: overdue.resolve,
  };
}

describe('the key header is strict Base64 (contract 5)', () => {
  it('gives the SHA-256 of the key', () => {
    expect(hashOfHeader(header('demo-public-key_0001'))).toBe(
      '3e3740f547fe42158963cc86f1cf700954b780147c7290a09567a3c6cfa438d6',
    );
  });

  it.each([
    ['empty', ''],
    ['without padding', header(PUBLIC_KEY).replace(/=+$/, '')],
    ['the plain key', PUBLIC_KEY],
    ['URL-safe letters', '-_-_'],
    ['spaces around', ` ${header(PUBLIC_KEY)}`],
    ['a line break inside', `${header(PUBLIC_KEY).slice(0, 4)}\n${header(PUBLIC_KEY).slice(4)}`],
    ['stray bits in the last letter', 'YR=='],
    ['too long', header('k'.repeat(400))],
    ['what is too short for a key', header('k'.repeat(15))],
    ['what is too long for a key', header('k'.repeat(129))],
    ['letters that no key has', header('demo public key!')],
    ['letters that are none in ASCII', header('démo-public-key-00')],
    ['bytes that are no text', Buffer.alloc(32, 0xff).toString('base64')],
    ['a line end behind the key', header(`${PUBLIC_KEY}\n`)],
  ])('refuses %s', (_, value) => {
    expect(hashOfHeader(value)).toBeUndefined();
  });

  it('and new keys are of the form that it carries', () => {
    const key = createPublicKey({ bytes: (length) => new Uint8Array(length).fill(255) });
    expect(key).toMatch(publicKeyPattern);
    expect(hashOfHeader(header(key))).toBe(hashPublicKey(key));
  });
});

describe('identifying', () => {
  it('finds the merchant by its key and by its id', async () => {
    const { directory } = createFixture();
    expect(await directory.identify(header(PUBLIC_KEY))).toMatchObject({
      merchant: { id: 'demo', status: 'active' },
    });
    expect(await directory.find('demo')).toMatchObject({ id: 'demo' });
    expect(await directory.find('nobody')).toBeUndefined();
  });

  it('asks once while the answer is fresh, and again after its time', async () => {
    const { directory, clock, asked } = createFixture(5_000);
    await directory.identify(header(PUBLIC_KEY));
    clock.now += 4_999;
    await directory.identify(header(PUBLIC_KEY));
    expect(asked).toHaveLength(1);
    clock.now += 1;
    await directory.identify(header(PUBLIC_KEY));
    expect(asked).toHaveLength(2);
  });

  it('hands out one and the same promise on a hit', async () => {
    const { directory } = createFixture();
    await directory.identify(header(PUBLIC_KEY));
    expect(directory.identify(header(PUBLIC_KEY))).toBe(directory.identify(header(PUBLIC_KEY)));
  });

  it('asks once for callers that come together', async () => {
    const { directory, asked } = createFixture();
    const all = await Promise.all(Array.from({ length: 20 }, () => directory.identify(header(PUBLIC_KEY))));
    expect(new Set(all.map((holder) => holder?.merchant.id))).toEqual(new Set(['demo']));
    expect(asked).toHaveLength(1);
  });

  it('remembers for a second that a key is unknown', async () => {
    const { directory, clock, asked, known } = createFixture();
    const key = 'another-public-key';
    expect(await directory.identify(header(key))).toBeUndefined();
    known.set(hashPublicKey(key), readMerchant({ ...document, _id: 'late', keys: [keyOf(key)] }));
    clock.now += 999;
    expect(await directory.identify(header(key))).toBeUndefined();
    expect(asked).toHaveLength(1);
    clock.now += 1;
    expect(await directory.identify(header(key))).toMatchObject({ merchant: { id: 'late' } });
  });

  it('names the key by which the merchant was found', async () => {
    const { directory, known } = createFixture();
    const scoped = {
      ...document,
      keys: [keyOf(PUBLIC_KEY), keyOf('another-public-key', { scopes: ['payouts'] })],
    };
    known.set(hashPublicKey('another-public-key'), readMerchant(scoped));
    expect((await directory.identify(header('another-public-key')))?.key.scopes).toEqual(['payouts']);
  });

  it('knows a key until it expires, and not a moment longer, although it is cached', async () => {
    const { directory, clock, known } = createFixture();
    const expiresAt = new Date(clock.now + 1_000);
    known.set(
      hashPublicKey(PUBLIC_KEY),
      readMerchant({ ...document, keys: [keyOf(PUBLIC_KEY, { expiresAt })] }),
    );
    clock.now += 999;
    expect(await directory.identify(header(PUBLIC_KEY))).toMatchObject({ merchant: { id: 'demo' } });
    clock.now += 1;
    expect(await directory.identify(header(PUBLIC_KEY))).toBeUndefined();
  });

  it('does not look up a text that is no key', async () => {
    const { directory, asked } = createFixture();
    expect(await directory.identify('not base64!')).toBeUndefined();
    expect(await directory.identify('A'.repeat(100_000))).toBeUndefined();
    expect(await directory.identify(header('no key'))).toBeUndefined();
    expect(asked).toHaveLength(0);
  });

  it('keeps known merchants through a flood of unknown keys', async () => {
    const { directory, asked } = createFixture();
    await directory.identify(header(PUBLIC_KEY));
    for (let index = 0; index < 10_500; index += 1)
      await directory.identify(header(`an-unknown-key-${index}`));
    const before = asked.length;
    await directory.identify(header(PUBLIC_KEY));
    expect(asked).toHaveLength(before);
    await directory.identify(header('an-unknown-key-0'));
    expect(asked).toHaveLength(before + 1);
  });

  it('asks again after the clock was set back', async () => {
    const { directory, clock, asked } = createFixture();
    await directory.identify(header(PUBLIC_KEY));
    clock.now -= 1;
    await directory.identify(header(PUBLIC_KEY));
    expect(asked).toHaveLength(2);
  });

  it('reads for four strangers at once, lets some wait and turns the rest away; a known merchant passes', async () => {
    const { directory, asked, stall, clock, letTimePass } = createFixture();
    await directory.identify(header(PUBLIC_KEY));
    asked.length = 0;
    stall(true);
    const strangers = Array.from({ length: 300 }, (_, index) =>
      directory
        .identify(header(`an-unknown-key-${index}`))
        .then(String, (error: Error) => (isBulkheadRejectedError(error) ? 'turned away' : error.name)),
    );
    await expect.poll(() => asked).toHaveLength(4);
    expect(await Promise.all(strangers.slice(260))).toEqual(Array(40).fill('turned away'));
    expect(await directory.identify('not base64!')).toBeUndefined();
    stall(false);
    clock.now += 60_000;
    expect(await directory.identify(header(PUBLIC_KEY))).toMatchObject({ merchant: { id: 'demo' } });
    expect(asked).toHaveLength(5);
    letTimePass();
    const answers = await Promise.all(strangers.slice(0, 260));
    expect(answers.filter((answer) => answer === 'DeadlineError').length).toBeGreaterThanOrEqual(4);
    expect(asked).toHaveLength(261);
  });

  it('does not remember a failure', async () => {
    const { directory, failWith } = createFixture();
    failWith(new Error('no primary'));
    await expect(directory.identify(header(PUBLIC_KEY))).rejects.toThrow('no primary');
    failWith();
    expect(await directory.identify(header(PUBLIC_KEY))).toMatchObject({ merchant: { id: 'demo' } });
  });
});

describe('one more key', () => {
  const NOW = 5_000;
  const expired = keyOf('an-expired-public-key', { expiresAt: new Date(NOW) });
  const both = keyOf('a-public-key-for-both');
  const payouts = keyOf('a-public-key-for-payouts', { scopes: ['payouts'] });
  const added = keyOf('an-added-public-key', { scopes: ['payouts'], expiresAt: new Date(NOW + 1) });

  it.each([
    ['beside another', [both], [both, added]],
    ['in the place of an expired one', [expired, both], [both, added]],
    ['beside two, of which one has expired', [expired, payouts, expired], [payouts, added]],
  ])('is taken %s', (_, keys, expected) => {
    expect(withKey(keys, added, NOW)).toEqual({ ok: true, value: expected });
  });

  it('is refused beside two live ones of a scope that it has, and taken without that scope', () => {
    const keys = [both, payouts];
    expect(withKey(keys, added, NOW)).toEqual({ ok: false, refusal: 'payouts' });
    expect(withKey(keys, keyOf('a-public-key-for-all'), NOW)).toEqual({ ok: false, refusal: 'payouts' });
    const other = keyOf('a-public-key-to-collect', { scopes: ['collections'] });
    expect(withKey(keys, other, NOW)).toMatchObject({ ok: true });
  });
});

describe('reading a stored merchant', () => {
  it('takes whole numbers typed by hand as minor units', () => {
    const typed = { fixedMinor: 0, basisPoints: 150, minimumMinor: 100 };
    const merchant = readMerchant({ ...document, wallets: [{ ...document.wallets[0], payoutFee: typed }] });
    expect(merchant.wallets[0]?.payoutFee).toEqual(schedule);
  });

  it.each([
    ['a float', { ...document, limits: { requestsPerSecond: 1, perPayoutMaxMinor: { KES: 0.5 } } }, 'limits'],
    ['one currency twice', { ...document, wallets: [document.wallets[0], document.wallets[0]] }, 'wallets'],
    ['an unknown country', { ...document, wallets: [{ ...document.wallets[0], country: 'XXX' }] }, 'country'],
    ['no key', { ...document, keys: [] }, 'keys'],
    [
      'no secret for what must be signed',
      { ...document, signing: { isRequired: true, secrets: [] } },
      'signing',
    ],
    ['nothing about signatures', { ...document, signing: undefined }, 'signing'],
    ['an address that is none', { ...document, allowedAddresses: ['192.0.2.1/24'] }, 'allowedAddresses'],
    ['a key for nothing', { ...document, keys: [{ ...document.keys[0], scopes: [] }] }, 'scopes'],
    [
      'a strange address',
      { ...document, webhooks: { ...document.webhooks, payoutsUrl: 'ftp://x' } },
      'payoutsUrl',
    ],
  ])('refuses %s, naming the field and no value', (_, stored, field) => {
    expect(() => readMerchant(stored)).toThrow(new RegExp(`malformed at: .*${field}`));
    expect(() => readMerchant(stored)).not.toThrow(/whsec_|ftp/);
  });
});
