import { type ChangeKind, type KeyScope, keyScopes, type Wanted } from '@pesewa/contracts';
import { accept, type Random, type Result, refuse } from '@pesewa/kernel';
import { createSigningSecret, createWebhookSecret } from '@pesewa/signatures';
import { createPublicKey, hashPublicKey, publicKeyPattern, withKey } from '../keys.ts';
import { checkMerchant, type Merchant, type MerchantKey, withNewSecret } from '../merchant.ts';
import { setLimits, setWallet } from './amounts.ts';
import { fingerprint } from './fields.ts';

/** What was made for a change; it is shown once, to who asked. */
export interface Made {
  readonly publicKey?: string;
  /** Of a new merchant; one key may have both scopes. */
  readonly publicKeys?: Readonly<Record<KeyScope, string>>;
  readonly webhookSecret?: string;
  readonly signingSecret?: string;
}

/** What a change needs to be applied, as it is stored until it is decided: what is secret only if it must be kept as it is. */
export type Payload<Kind extends ChangeKind> = Kind extends 'add-key'
  ? { readonly key: MerchantKey }
  : Kind extends 'webhooks'
    ? Pick<Wanted<'webhooks'>, 'payoutsUrl' | 'collectionsUrl' | 'graceHours'> & { readonly secret?: string }
    : Kind extends 'signatures'
      ? Pick<Wanted<'signatures'>, 'required' | 'removeSecret'> & { readonly secret?: string }
      : Wanted<Kind>;

/** Where the texts and the times of keys and secrets come from. */
interface Sources {
  readonly random: Pick<Random, 'bytes'>;
  readonly nowMs: number;
}

/** One kind of change: who may make it, what is made for it, and what it makes of a merchant. */
interface SettingsKind<Kind extends ChangeKind> {
  /** Whether one operator is enough, since it only stops harm, or since there is no money yet. */
  readonly isAtOnce?: true;
  readonly prepare: (
    wanted: Wanted<Kind>,
    sources: Sources,
  ) => Result<{ readonly payload: Payload<Kind>; readonly made: Made }, string>;
  readonly apply: (merchant: Merchant, payload: Payload<Kind>, nowMs: number) => Result<Merchant, string>;
}

const asWanted = <Value>(payload: Value) => accept({ payload, made: {} });

/** The kinds of changes of a merchant that is there (ADR 80): all that a kind needs, except for how it is asked for. */
export const settingsKinds: {
  readonly [Kind in Exclude<ChangeKind, 'create'>]: SettingsKind<Kind>;
} = {
  wallet: { prepare: asWanted, apply: setWallet },
  limits: { prepare: asWanted, apply: setLimits },
  webhooks: {
    prepare: ({ rotateSecret, graceHours, ...urls }, { random }) => {
      if (rotateSecret !== true)
        return graceHours === undefined ? asWanted(urls) : refuse('graceHours needs rotateSecret');
      const secret = createWebhookSecret(random);
      return accept({
        payload: { ...urls, secret, graceHours: graceHours ?? GRACE_HOURS },
        made: { webhookSecret: secret },
      });
    },
    apply: (merchant, { payoutsUrl, collectionsUrl, secret, graceHours = 0 }, nowMs) => {
      const graceMs = graceHours * HOUR_MS;
      // The grace time begins when the new secret does, so that one of them always signs.
      const webhooks =
        secret === undefined
          ? merchant.webhooks
          : withNewSecret(merchant.webhooks, secret, { graceMs, nowMs });
      return checkMerchant({
        ...merchant,
        webhooks: {
          ...webhooks,
          ...(payoutsUrl !== undefined && { payoutsUrl }),
          ...(collectionsUrl !== undefined && { collectionsUrl }),
        },
      });
    },
  },
  access: {
    prepare: asWanted,
    apply: (merchant, { allowedAddresses }) => checkMerchant({ ...merchant, allowedAddresses }),
  },
  signatures: {
    prepare: ({ addSecret, ...wanted }, { random }) => {
      if (addSecret !== true) return asWanted(wanted);
      const secret = createSigningSecret(random);
      return accept({ payload: { ...wanted, secret }, made: { signingSecret: secret } });
    },
    apply: setSigning,
  },
  'add-key': {
    prepare: (wanted, sources) => {
      const made = makeKey(wanted.publicKey, sources.random);
      if (!made.ok) return made;
      const expiresAt = wanted.expiresAt === undefined ? undefined : new Date(wanted.expiresAt);
      if (expiresAt && expiresAt.getTime() <= sources.nowMs)
        return refuse('expiresAt is over: name a later time, or leave it out');
      const key = keyRecord(made.value, { ...wanted, nowMs: sources.nowMs, expiresAt });
      return accept({ payload: { key }, made: { publicKey: made.value } });
    },
    apply: addKey,
  },
  'remove-key': {
    isAtOnce: true,
    prepare: asWanted,
    apply: (merchant, { keyHash }) => {
      const keys = merchant.keys.filter(({ hash }) => !hash.startsWith(keyHash));
      if (keys.length === merchant.keys.length) return refuse(`keyHash: ${merchant.id} has no such key`);
      if (keys.length === 0) return refuse('keyHash: it is the last key: suspend the merchant instead');
      return accept({ ...merchant, keys });
    },
  },
  suspend: {
    isAtOnce: true,
    prepare: asWanted,
    apply: (merchant) => accept({ ...merchant, status: 'suspended' }),
  },
  resume: { prepare: asWanted, apply: (merchant) => accept({ ...merchant, status: 'active' }) },
};

const HOUR_MS = 3_600_000;
const GRACE_HOURS = 24;
const DEFAULT_LIMITS = { requestsPerSecond: 100 };

/** A merchant as it is created, with what was made for it. */
export function newMerchant(
  { merchantId, name, publicKey, ...wanted }: Wanted<'create'>,
  { random, nowMs }: Sources,
): Result<{ readonly merchant: Merchant; readonly made: Made }, string> {
  const payouts = makeKey(publicKey, random);
  if (!payouts.ok) return payouts;
  const collections = makeKey(publicKey, random);
  if (!collections.ok) return collections;
  const publicKeys = { payouts: payouts.value, collections: collections.value };
  const webhookSecret = createWebhookSecret(random);
  const { payoutsUrl = null, collectionsUrl = null } = wanted;
  let merchant = checkMerchant({
    id: merchantId,
    name,
    status: 'active',
    keys: keysOf(publicKeys, nowMs),
    allowedAddresses: [],
    signing: { isRequired: false, secrets: [] },
    wallets: [],
    webhooks: { payoutsUrl, collectionsUrl, secrets: [webhookSecret] },
    limits: DEFAULT_LIMITS,
    createdAt: new Date(nowMs),
  });
  if (merchant.ok) merchant = setLimits(merchant.value, wanted.limits);
  for (const wallet of wanted.wallets) if (merchant.ok) merchant = setWallet(merchant.value, wallet);
  return merchant.ok ? accept({ merchant: merchant.value, made: { publicKeys, webhookSecret } }) : merchant;
}

/** Two keys, of a scope each, or one with both scopes. */
function keysOf({ payouts, collections }: Readonly<Record<KeyScope, string>>, nowMs: number) {
  if (payouts === collections) return [keyRecord(payouts, { scopes: keyScopes, nowMs })];
  return [
    keyRecord(payouts, { scopes: ['payouts'], nowMs }),
    keyRecord(collections, { scopes: ['collections'], nowMs }),
  ];
}

function keyRecord(
  publicKey: string,
  terms: {
    readonly scopes: readonly KeyScope[];
    readonly nowMs: number;
    readonly expiresAt?: Date | undefined;
  },
): MerchantKey {
  return {
    hash: hashPublicKey(publicKey),
    scopes: [...new Set(terms.scopes)],
    createdAt: new Date(terms.nowMs),
    ...(terms.expiresAt && { expiresAt: terms.expiresAt }),
  };
}

/** Adds a key, judged as of when it was asked for, so that the approval does what was shown. */
function addKey(merchant: Merchant, { key }: Payload<'add-key'>): Result<Merchant, string> {
  if (merchant.keys.some(({ hash }) => hash === key.hash)) return accept(merchant);
  const keys = withKey(merchant.keys, key, key.createdAt.getTime());
  if (!keys.ok)
    return refuse(`scopes: ${merchant.id} has two live keys for ${keys.refusal}: remove one of them first`);
  return checkMerchant({ ...merchant, keys: keys.value });
}

/** Takes a secret away before it adds one, so that one change can replace a secret that has leaked. */
function setSigning(
  merchant: Merchant,
  { required, removeSecret, secret }: Payload<'signatures'>,
): Result<Merchant, string> {
  const { isRequired, secrets } = merchant.signing;
  const kept = secrets.filter((one) => removeSecret === undefined || fingerprint(one) !== removeSecret);
  if (removeSecret !== undefined && kept.length === secrets.length)
    return refuse(`removeSecret: ${merchant.id} has no such secret`);
  return checkMerchant({
    ...merchant,
    signing: {
      isRequired: required ?? isRequired,
      secrets: secret === undefined ? kept : [secret, ...kept],
    },
  });
}

/** The addresses that a change would send webhooks to. */
export function addressesOf(wanted: object): readonly (readonly [field: string, url: string])[] {
  return (['payoutsUrl', 'collectionsUrl'] as const).flatMap((field) => {
    const url = (wanted as Partial<Record<typeof field, string | null>>)[field];
    return typeof url === 'string' ? [[field, url] as const] : [];
  });
}

function makeKey(given: string | undefined, random: Pick<Random, 'bytes'>): Result<string, string> {
  const key = given ?? createPublicKey(random);
  if (publicKeyPattern.test(key)) return accept(key);
  return refuse('publicKey must have 16 to 128 letters, digits, underscores or hyphens');
}
