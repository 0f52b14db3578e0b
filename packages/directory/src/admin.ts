import { describeProblem, firstProblem } from '@pesewa/contracts';
import {
  accept,
  type Clock,
  type Random,
  type Result,
  refuse,
  systemClock,
  systemRandom,
} from '@pesewa/kernel';
import { createWebhookSecret } from '@pesewa/signatures';
import { type Collection, type Db, MongoServerError } from 'mongodb';
import type { z } from 'zod';
import { MERCHANTS } from './directory.ts';
import { createPublicKey, hashPublicKey, publicKeyPattern } from './keys.ts';
import {
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

/** Why a change of the directory was not made; the message is for operators and holds no secret. */
export interface DirectoryRefusal {
  readonly code:
    | 'merchant.malformed'
    | 'merchant.exists'
    | 'merchant.unknown'
    | 'key.malformed'
    | 'key.taken'
    | 'key.unknown';
  readonly message: string;
}

/** A merchant to be created; keys and secrets that are absent are made. */
export interface NewMerchant {
  readonly id: string;
  readonly name: string;
  readonly publicKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
  readonly wallets: readonly MerchantWallet[];
  readonly payoutsUrl?: string | undefined;
  readonly collectionsUrl?: string | undefined;
  readonly limits: MerchantLimits;
}

type Change<Value = null> = Promise<Result<Value, DirectoryRefusal>>;

/** Writes the directory: for the command line and for seeding only. */
export interface DirectoryAdmin {
  readonly ensureIndexes: () => Promise<void>;
  readonly createMerchant: (
    merchant: NewMerchant,
  ) => Change<{ readonly publicKey: string; readonly webhookSecret: string }>;
  /** Adds a key to the present ones; makes a new key if none is given. */
  readonly addKey: (merchantId: string, publicKey?: string) => Change<{ readonly publicKey: string }>;
  /** Removes a key by its SHA-256, but never the last one: suspend the merchant instead. */
  readonly removeKey: (merchantId: string, keyHash: string) => Change;
  /** Adds a wallet, or replaces the one of the same currency. */
  readonly setWallet: (merchantId: string, wallet: MerchantWallet) => Change;
  readonly setLimits: (merchantId: string, limits: MerchantLimits) => Change;
  /** Sets the addresses; the secrets stay unless new ones are given. */
  readonly setWebhooks: (
    merchantId: string,
    webhooks: {
      readonly payoutsUrl: string | null;
      readonly collectionsUrl: string | null;
      readonly secrets?: readonly string[] | undefined;
    },
  ) => Change;
  /** Puts a new secret first and keeps the one before it, so that both sign. */
  readonly rotateWebhookSecret: (merchantId: string) => Change<{ readonly webhookSecret: string }>;
  readonly suspend: (merchantId: string) => Change;
  readonly resume: (merchantId: string) => Change;
  readonly list: () => Promise<readonly Merchant[]>;
}

type Merchants = Collection<MerchantDocument>;

/** Opens the writing side of the database `directory`, of a client with `useBigInt64: true`. */
export function createDirectoryAdmin(
  db: Db,
  chance: { readonly clock?: Pick<Clock, 'nowMs'>; readonly random?: Pick<Random, 'bytes'> } = {},
): DirectoryAdmin {
  const { clock = systemClock, random = systemRandom } = chance;
  const merchants: Merchants = db.collection<MerchantDocument>(MERCHANTS);
  const setStatus = async (merchantId: string, status: MerchantDocument['status']) =>
    changed(merchantId, await merchants.updateOne({ _id: merchantId }, { $set: { status } }));
  return {
    ensureIndexes: async () => {
      await merchants.createIndex({ keyHashes: 1 }, { unique: true, name: 'key' });
    },
    createMerchant: (merchant) => createMerchant(merchants, merchant, { clock, random }),
    addKey: (merchantId, publicKey = createPublicKey(random)) => addKey(merchants, merchantId, publicKey),
    removeKey: async (merchantId, keyHash) => {
      const filter = { _id: merchantId, keyHashes: keyHash, 'keyHashes.1': { $exists: true } };
      const result = await merchants.updateOne(filter, { $pull: { keyHashes: keyHash } });
      if (result.matchedCount > 0) return accept(null);
      return no('key.unknown', `${merchantId} has no such key, or no other one`);
    },
    setWallet: (merchantId, wallet) => setWallet(merchants, merchantId, wallet),
    setLimits: async (merchantId, given) => {
      const parsed = limitsDocument.safeParse(given);
      if (!parsed.success) return malformed(parsed.error);
      const update = { $set: { limits: parsed.data } };
      return changed(
        merchantId,
        await merchants.updateOne({ _id: merchantId }, update, { ignoreUndefined: true }),
      );
    },
    setWebhooks: async (merchantId, webhooks) => {
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
    rotateWebhookSecret: async (merchantId) => {
      const webhookSecret = createWebhookSecret(random);
      const push = { $each: [webhookSecret], $position: 0, $slice: 2 };
      const result = await merchants.updateOne({ _id: merchantId }, { $push: { 'webhooks.secrets': push } });
      return result.matchedCount > 0 ? accept({ webhookSecret }) : unknownMerchant(merchantId);
    },
    suspend: (merchantId) => setStatus(merchantId, 'suspended'),
    resume: (merchantId) => setStatus(merchantId, 'active'),
    list: async () => (await merchants.find().sort({ _id: 1 }).toArray()).map(readMerchant),
  };
}

async function createMerchant(
  merchants: Merchants,
  merchant: NewMerchant,
  chance: { readonly clock: Pick<Clock, 'nowMs'>; readonly random: Pick<Random, 'bytes'> },
): Change<{ readonly publicKey: string; readonly webhookSecret: string }> {
  const publicKey = merchant.publicKey ?? createPublicKey(chance.random);
  const webhookSecret = merchant.webhookSecret ?? createWebhookSecret(chance.random);
  if (!publicKeyPattern.test(publicKey)) return malformedKey();
  const parsed = merchantDocument.safeParse({
    _id: merchant.id,
    name: merchant.name,
    status: 'active',
    keyHashes: [hashPublicKey(publicKey)],
    wallets: merchant.wallets,
    webhooks: {
      payoutsUrl: merchant.payoutsUrl ?? null,
      collectionsUrl: merchant.collectionsUrl ?? null,
      secrets: [webhookSecret],
    },
    limits: merchant.limits,
    createdAt: new Date(chance.clock.nowMs()),
  });
  if (!parsed.success) return malformed(parsed.error);
  try {
    await merchants.insertOne(parsed.data, { ignoreUndefined: true });
    return accept({ publicKey, webhookSecret });
  } catch (error) {
    const duplicate = duplicateOf(error);
    if (duplicate === 'key') return keyTaken();
    if (duplicate === 'id') return no('merchant.exists', `${merchant.id} exists already`);
    throw error;
  }
}

async function addKey(
  merchants: Merchants,
  merchantId: string,
  publicKey: string,
): Change<{ readonly publicKey: string }> {
  if (!publicKeyPattern.test(publicKey)) return malformedKey();
  try {
    const update = { $addToSet: { keyHashes: hashPublicKey(publicKey) } };
    const result = await merchants.updateOne({ _id: merchantId }, update);
    return result.matchedCount > 0 ? accept({ publicKey }) : unknownMerchant(merchantId);
  } catch (error) {
    if (duplicateOf(error) === undefined) throw error;
    return keyTaken();
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

/** The unique value that a write violated; undefined for any other error. */
function duplicateOf(error: unknown): 'id' | 'key' | undefined {
  if (!(error instanceof MongoServerError) || error.code !== 11_000) return undefined;
  const pattern: unknown = error['keyPattern'];
  return typeof pattern === 'object' && pattern !== null && 'keyHashes' in pattern ? 'key' : 'id';
}

function changed(
  merchantId: string,
  result: { readonly matchedCount: number },
): Result<null, DirectoryRefusal> {
  return result.matchedCount > 0 ? accept(null) : unknownMerchant(merchantId);
}

function no(code: DirectoryRefusal['code'], message: string) {
  return refuse<DirectoryRefusal>({ code, message });
}

function unknownMerchant(merchantId: string) {
  return no('merchant.unknown', `there is no merchant ${merchantId}`);
}

function malformedKey() {
  return no('key.malformed', 'a public key has 16 to 128 letters, digits, underscores or hyphens');
}

function keyTaken() {
  return no('key.taken', 'the public key belongs to a merchant already');
}

function malformed(error: z.ZodError) {
  return no('merchant.malformed', describeProblem(firstProblem(error)));
}
