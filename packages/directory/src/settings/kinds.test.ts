import type { ChangeKind, FieldChangeView, Wanted } from '@pesewa/contracts';
import { describe, expect, it, test } from 'vitest';
import { fieldChanges, fingerprint, settingsOf, staleField } from './fields.ts';
import { newMerchant, settingsKinds } from './kinds.ts';
import { changed, demo, sources } from './settings.fixture.ts';

/** From what to what a change alters the merchant, as `field: from → to`; or why it does not. */
function said<Kind extends Exclude<ChangeKind, 'create'>>(kind: Kind, wanted: Wanted<Kind>) {
  const after = changed(kind, wanted);
  if (!after.ok) return after.refusal;
  return fieldChanges(demo, after.value).map(({ field, from, to }) => `${field}: ${from} → ${to}`);
}

/** The merchant with other settings of signatures; each secret that is made is another one. */
function signed(wanted: Wanted<'signatures'>, merchant = demo) {
  const bytes = (length: number) => new Uint8Array(length).fill(merchant.signing.secrets.length);
  const prepared = settingsKinds.signatures.prepare(wanted, { ...sources, random: { bytes } });
  if (!prepared.ok) throw new Error(prepared.refusal);
  const after = settingsKinds.signatures.apply(merchant, prepared.value.payload, sources.nowMs);
  if (!after.ok) throw new Error(after.refusal);
  return after.value;
}

describe('given a merchant, a change', () => {
  it('of prices alters what is given, and nothing else', () => {
    const payoutFee = { percent: '1.5', fixed: '0.50', max: '20' };
    expect(said('wallet', { currency: 'GHS', country: 'GHA', payoutFee })).toEqual([
      'wallets.GHS.payoutFee.percent: 1 → 1.5',
      'wallets.GHS.payoutFee.fixed: null → 0.5',
      'wallets.GHS.payoutFee.max: null → 20',
    ]);
  });

  it('that adds a wallet needs both prices', () => {
    const fee = { percent: '2' };
    expect(said('wallet', { currency: 'XOF', country: 'CIV', payoutFee: fee })).toBe(
      'collectionFee is required: the wallet has no price yet',
    );
    expect(said('wallet', { currency: 'XOF', country: 'CIV', payoutFee: fee, collectionFee: fee })).toEqual([
      'wallets.XOF.country: null → CIV',
      'wallets.XOF.payoutFee.percent: null → 2',
      'wallets.XOF.collectionFee.percent: null → 2',
    ]);
  });

  it('of limits takes away those that are null', () => {
    const wanted = { perPayoutMax: { GHS: null }, perDayMax: { GHS: '1000.5' }, requestsPerSecond: 10 };
    expect(said('limits', wanted)).toEqual([
      'limits.requestsPerSecond: 50 → 10',
      'limits.perDayMax.GHS: null → 1000.5',
      'limits.perPayoutMax.GHS: 5000 → null',
    ]);
  });

  it('of webhooks keeps the secret before the new one, and an address that is not given', () => {
    const after = changed('webhooks', { collectionsUrl: 'https://shop.example/c', rotateSecret: true });
    if (!after.ok) throw new Error(after.refusal);
    const { payoutsUrl, collectionsUrl, secrets } = after.value.webhooks;
    expect([payoutsUrl, collectionsUrl]).toEqual([demo.webhooks.payoutsUrl, 'https://shop.example/c']);
    expect(after.value.webhooks.previousUntil).toEqual(new Date(86_400_005));
    expect(secrets).toHaveLength(2);
    expect(secrets[1]).toBe(demo.webhooks.secrets[0]);
  });

  it.each([
    ['suspend', {}, ['status: active → suspended']],
    ['resume', {}, []],
    ['remove-key', { keyHash: 'cd'.repeat(32) }, 'keyHash: demo has no such key'],
    ['remove-key', { keyHash: 'abababababab' }, 'keyHash: it is the last key: suspend the merchant instead'],
    [
      'add-key',
      { publicKey: 'short', scopes: ['payouts'] },
      'publicKey must have 16 to 128 letters, digits, underscores or hyphens',
    ],
    [
      'add-key',
      { scopes: ['payouts'], expiresAt: '1970-01-01T00:00:00Z' },
      'expiresAt is over: name a later time, or leave it out',
    ],
    [
      'limits',
      {
        payoutsPerBeneficiaryPerDay: 3,
        perCollectionMin: { GHS: '2' },
        perBeneficiaryPerDayMax: { GHS: '20' },
        perPayoutMax: { GHS: null },
      },
      [
        'limits.payoutsPerBeneficiaryPerDay: null → 3',
        'limits.perBeneficiaryPerDayMax.GHS: null → 20',
        'limits.perCollectionMin.GHS: null → 2',
        'limits.perPayoutMax.GHS: 5000 → null',
      ],
    ],
    [
      'access',
      { allowedAddresses: ['192.0.2.0/24', '2001:db8::1'] },
      ['allowedAddresses: null → 192.0.2.0/24, 2001:db8::1'],
    ],
    [
      'limits',
      { perPayoutMin: { GHS: '5000.01' } },
      'perPayoutMin.GHS must not be more than perPayoutMax.GHS, which is 5,000.00 GHS: lower the one, or raise the other',
    ],
    ['limits', { perPayoutMin: { GHS: '5000' } }, ['limits.perPayoutMin.GHS: null → 5000']],
    [
      'limits',
      { perCollectionMin: { GHS: '2' }, collectionsPerDayMax: { GHS: '1', XOF: '1' } },
      'perCollectionMin.GHS must not be more than collectionsPerDayMax.GHS, which is 1.00 GHS: lower the one, or raise the other',
    ],
    [
      'wallet',
      { currency: 'GHS', country: 'GHA', payoutFee: { percent: '1', min: '2', max: '1' } },
      'payoutFee.min must not be more than payoutFee.max: lower the one, or raise the other',
    ],
    ['limits', { perDayMax: { XOF: '0.5' } }, 'perDayMax.XOF must have no decimals in XOF'],
    ['webhooks', { payoutsUrl: 'ftp://x' }, 'webhooks.payoutsUrl must be an http or https address'],
  ] as const)('%s of %j says %j', (kind, wanted, says) => {
    expect(said(kind, wanted as never)).toEqual(says);
  });

  it('of signatures adds a secret beside the present one, ends one, and refuses a third', () => {
    const first = signed({ addSecret: true });
    const second = signed({ addSecret: true, required: true }, first);
    expect([first.signing.secrets.length, second.signing.secrets.length]).toEqual([1, 2]);
    expect(second.signing.secrets[1]).toBe(first.signing.secrets[0]);
    expect(changed('signatures', { addSecret: true }, second)).toEqual({
      ok: false,
      refusal: 'signing.secrets are two already: remove one of them first',
    });
    const removeSecret = fingerprint(first.signing.secrets[0] ?? '');
    expect(signed({ removeSecret }, second).signing).toEqual({
      isRequired: true,
      secrets: second.signing.secrets.slice(0, 1),
    });
    expect(signed({ removeSecret, addSecret: true }, second).signing.secrets).toHaveLength(2);
  });

  it('of signatures never requires what the merchant could not make', () => {
    const refusal = 'signing signatures are required, so a secret must be there';
    expect(said('signatures', { required: true })).toBe(refusal);
    const one = signed({ addSecret: true, required: true });
    const removeSecret = fingerprint(one.signing.secrets[0] ?? '');
    expect(changed('signatures', { removeSecret }, one)).toEqual({ ok: false, refusal });
    expect(signed({ removeSecret, required: false }, one).signing).toEqual({
      isRequired: false,
      secrets: [],
    });
    expect(said('signatures', { removeSecret })).toBe('removeSecret: demo has no such secret');
  });

  it('stores of a new key only its hash, and shows the key to who asks', () => {
    const prepared = settingsKinds['add-key'].prepare({ scopes: ['payouts'] }, sources);
    if (!prepared.ok) throw new Error(prepared.refusal);
    const { payload, made } = prepared.value;
    expect(made.publicKey).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(payload)).not.toContain(made.publicKey);
  });
});

test('what a secret or a key is, no text of the settings says', () => {
  const after = changed('webhooks', { rotateSecret: true });
  if (!after.ok) throw new Error(after.refusal);
  const shown = JSON.stringify([settingsOf(after.value), fieldChanges(demo, after.value)]);
  for (const secret of [...after.value.webhooks.secrets, ...demo.keys.map(({ hash }) => hash)])
    expect(shown).not.toContain(secret);
  expect(fieldChanges(demo, after.value).map(({ field }) => field)).toEqual(['webhooks.secret']);
});

test('what a signing secret is, no text of the settings says', () => {
  const after = signed({ addSecret: true, required: true });
  const changes = fieldChanges(demo, after);
  expect(changes).toEqual([
    { field: 'signing.requests', from: 'optional', to: 'required', currency: null },
    {
      field: 'signing.secrets',
      from: null,
      to: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      currency: null,
    },
  ]);
  expect(JSON.stringify([settingsOf(after), changes])).not.toContain('rqsec_');
});

test('a merchant is created with everything that is asked for, and its history begins with all of it', () => {
  const fee = { percent: '1' };
  const created = newMerchant(
    {
      merchantId: 'shop',
      name: 'Shop',
      wallets: [{ currency: 'GHS', country: 'GHA', payoutFee: fee, collectionFee: fee }],
      limits: { perDayMax: { GHS: '10' } },
    },
    sources,
  );
  if (!created.ok) throw new Error(created.refusal);
  expect(created.value.merchant).toMatchObject({
    id: 'shop',
    status: 'active',
    limits: { requestsPerSecond: 100, perDayMaxMinor: { GHS: 1_000n } },
    createdAt: new Date(5),
  });
  const fields = fieldChanges(undefined, created.value.merchant);
  expect(fields.every(({ from }) => from === null)).toBe(true);
  expect(fields).toHaveLength(settingsOf(created.value.merchant).length);
});

test.each([
  ['Shop!', 'merchantId must be 2 to 32 of a-z, 0-9, -'],
  ['s', 'merchantId must be 2 to 32 of a-z, 0-9, -'],
])('the id %s is refused', (merchantId, message) => {
  const wanted = { merchantId, name: 'Shop', wallets: [], limits: {} };
  expect(newMerchant(wanted, sources)).toEqual({ ok: false, refusal: message });
});

const one = (field: string, from: string | null, to: string | null): FieldChangeView => ({
  field,
  from,
  to,
  currency: null,
});

test.each([
  ['nothing differs', [one('a', '1', '2')], [one('a', '1', '2')], undefined],
  ['the setting moved', [one('a', '1', '2')], [one('a', '3', '2')], 'a'],
  ['it is set so already', [one('a', '1', '2')], [], 'a'],
  ['something else would change too', [one('a', '1', '2')], [one('a', '1', '2'), one('b', '1', '2')], 'b'],
] as const)('a proposal is stale or not: %s', (_, proposed, now, field) => {
  expect(staleField(proposed, now)).toBe(field);
});
