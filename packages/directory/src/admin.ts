import { type KeyScope, keyScopes } from '@pesewa/contracts';
import { accept, systemClock, systemRandom } from '@pesewa/kernel';
import { createWebhookSecret } from '@pesewa/signatures';
import type { Collection, Db } from 'mongodb';
import { MERCHANTS } from './directory.ts';
import { addKey, type NewKey, removeKey, type Sources } from './key-changes.ts';
import { createPublicKey, hashPublicKey, publicKeyPattern } from './keys.ts';
import {
  allowedAddressesDocument,
  limitsDocument,
  type Merchant,
  type MerchantDocument,
  type MerchantLimits,
  type MerchantWallet,
  merchantDocument,
  readMerchant,
  walletDocument,
  webhooksDocument,
} from './merchant.ts';
import { type Change, changed, duplicateOf, keyTaken, malformed, malformedKey, no } from './refusals.ts';
import { CHANGES } from './settings/change.ts';

/** A merchant to be created; keys and secrets that are absent are made, the keys one for each scope. */
export interface NewMerchant {
  readonly id: string;
  readonly name: string;
  /** One key for both APIs. */
  readonly publicKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly wallets: readonly MerchantWallet[];
  readonly payoutsUrl?: string | undefined;
  readonly collectionsUrl?: string | undefined;
  readonly limits: MerchantLimits;
}

/** What a merchant is given when it is created; one key may serve both scopes. */
export interface CreatedMerchant {
  readonly publicKeys: Readonly<Record<KeyScope, string>>;
  readonly webhookSecret: string;
}

/** Prepares the directory, and writes it without a second operator: for development and tests only (ADR 80). */
export type DirectoryAdmin = ReturnType<typeof createDirectoryAdmin>;

type Merchants = Collection<MerchantDocument>;

/** Opens the writing side of the database `directory`, of a client with `useBigInt64: true`. */
export function createDirectoryAdmin(db: Db, sources: Partial<Sources> = {}) {
  const { clock = systemClock, random = systemRandom } = sources;
  const merchants: Merchants = db.collection<MerchantDocument>(MERCHANTS);
  const setStatus = async (merchantId: string, status: MerchantDocument['status']) =>
    changed(merchantId, await merchants.updateOne({ _id: merchantId }, { $set: { status } }));
  return {
    ensureIndexes: async () => {
      await merchants.createIndex({ 'keys.hash': 1 }, { unique: true, name: 'key' });
      await db
        .collection(CHANGES)
        .createIndexes([
          { key: { at: -1, _id: -1 } },
          { key: { status: 1, at: -1, _id: -1 } },
          { key: { merchantId: 1, at: -1, _id: -1 } },
        ]);
    },
    createMerchant: (merchant: NewMerchant): Change<CreatedMerchant> =>
      createMerchant(merchants, merchant, { clock, random }),
    /** Adds a key to the present ones, at most two that live for each scope; drops those that have expired. */
    addKey: (merchantId: string, key: NewKey): Change<{ readonly publicKey: string }> =>
      addKey(merchants, merchantId, { key, clock, random }),
    /** Removes a key by its SHA-256, but never the last one: suspend the merchant instead. */
    removeKey: (merchantId: string, keyHash: string): Change => removeKey(merchants, merchantId, keyHash),
    /** Adds a wallet, or replaces the one of the same currency. */
    setWallet: (merchantId: string, wallet: MerchantWallet): Change =>
      setWallet(merchants, merchantId, wallet),
    setLimits: async (merchantId: string, given: MerchantLimits): Change => {
      const parsed = limitsDocument.safeParse(given);
      if (!parsed.success) return malformed(parsed.error);
      const update = { $set: { limits: parsed.data } };
      return changed(
        merchantId,
        await merchants.updateOne({ _id: merchantId }, update, { ignoreUndefined: true }),
      );
    },
    /** Sets the addresses; the secrets stay unless new ones are given. */
    setWebhooks: async (
      merchantId: string,
      webhooks: {
        readonly payoutsUrl: string | null;
        readonly collectionsUrl: string | null;
        readonly secrets?: readonly string[] | undefined;
      },
    ): Change => {
      const parsed = webhooksDocument.partial({ secrets: true }).safeParse(webhooks);
      if (!parsed.success) return malformed(parsed.error);
      const { secrets, ...urls } = parsed.data;
      const $set = {
        'webhooks.payoutsUrl': urls.payoutsUrl,
        'webhooks.collectionsUrl': urls.collectionsUrl,
        ...(secrets && { 'webhooks.secrets': secrets }),
      };
      return changed(merchantId, await merchants.updateOne({ _id: merchantId }, { $set }));
    },
    /** Sets the addresses and CIDR ranges that requests may come from; an empty list allows all. */
    setAllowedAddresses: async (merchantId: string, addresses: readonly string[]): Change => {
      const parsed = allowedAddressesDocument.safeParse(addresses);
      if (!parsed.success) return malformed(parsed.error);
      const update = { $set: { allowedAddresses: parsed.data } };
      return changed(merchantId, await merchants.updateOne({ _id: merchantId }, update));
    },
    suspend: (merchantId: string): Change => setStatus(merchantId, 'suspended'),
    resume: (merchantId: string): Change => setStatus(merchantId, 'active'),
    list: async (): Promise<readonly Merchant[]> =>
      (await merchants.find().sort({ _id: 1 }).toArray()).map(readMerchant),
  };
}

async function createMerchant(
  merchants: Merchants,
  merchant: NewMerchant,
  { clock, random }: Sources,
): Change<CreatedMerchant> {
  const { publicKey } = merchant;
  const webhookSecret = merchant.webhookSecret ?? createWebhookSecret(random);
  if (publicKey !== undefined && !publicKeyPattern.test(publicKey)) return malformedKey();
  const createdAt = new Date(clock.nowMs());
  const publicKeys = {
    payouts: publicKey ?? createPublicKey(random),
    collections: publicKey ?? createPublicKey(random),
  };
  const keys =
    publicKey === undefined
      ? keyScopes.map((scope) => ({ hash: hashPublicKey(publicKeys[scope]), scopes: [scope], createdAt }))
      : [{ hash: hashPublicKey(publicKey), scopes: keyScopes, createdAt }];
  const parsed = merchantDocument.safeParse({
    _id: merchant.id,
    name: merchant.name,
    status: 'active',
    keys,
    allowedAddresses: [],
    signing: { isRequired: false, secrets: [] },
    wallets: merchant.wallets,
    webhooks: {
      payoutsUrl: merchant.payoutsUrl ?? null,
      collectionsUrl: merchant.collectionsUrl ?? null,
      secrets: [webhookSecret],
    },
    limits: merchant.limits,
    createdAt,
  });
  if (!parsed.success) return malformed(parsed.error);
  try {
    await merchants.insertOne(parsed.data, { ignoreUndefined: true });
    return accept({ publicKeys, webhookSecret });
  } catch (error) {
    const duplicate = duplicateOf(error);
    if (duplicate === 'key') return keyTaken();
    if (duplicate === 'id') return no('merchant.exists', `${merchant.id} exists already`);
    throw error;
  }
}

async function setWallet(merchants: Merchants, merchantId: string, wallet: MerchantWallet): Change {
  const parsed = walletDocument.safeParse(wallet);
  if (!parsed.success) return malformed(parsed.error);
  const { currency } = parsed.data;
  const options = { ignoreUndefined: true };
  // Each step is atomic and at most one of them applies, even if somebody else writes at the same time.
  const replaced = await merchants.updateOne(
    { _id: merchantId, 'wallets.currency': currency },
    { $set: { 'wallets.$': parsed.data } },
    options,
  );
  if (replaced.matchedCount > 0) return accept(null);
  const added = await merchants.updateOne(
    { _id: merchantId, 'wallets.currency': { $ne: currency } },
    { $push: { wallets: parsed.data } },
    options,
  );
  return changed(merchantId, added);
}
