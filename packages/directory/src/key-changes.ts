import type { KeyScope } from '@pesewa/contracts';
import { accept, type Clock, type Random } from '@pesewa/kernel';
import type { Collection } from 'mongodb';
import { createPublicKey, hashPublicKey, publicKeyPattern, withKey } from './keys.ts';
import { keyDocument, type MerchantDocument } from './merchant.ts';
import {
  type Change,
  duplicateOf,
  keyTaken,
  malformed,
  malformedKey,
  no,
  unknownMerchant,
} from './refusals.ts';

/** A key to be added; a text that is absent is made. */
export interface NewKey {
  readonly publicKey?: string | undefined;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date | undefined;
}

/** Where the time and the texts of new keys and secrets come from. */
export interface Sources {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Pick<Random, 'bytes'>;
}

/** Adds a key, decided on the keys as they are read and saved only while they are the same. */
export async function addKey(
  merchants: Collection<MerchantDocument>,
  merchantId: string,
  { key, clock, random }: Sources & { readonly key: NewKey },
): Change<{ readonly publicKey: string }> {
  const publicKey = key.publicKey ?? createPublicKey(random);
  if (!publicKeyPattern.test(publicKey)) return malformedKey();
  const nowMs = clock.nowMs();
  const parsed = keyDocument.safeParse({
    hash: hashPublicKey(publicKey),
    scopes: key.scopes,
    createdAt: new Date(nowMs),
    ...(key.expiresAt && { expiresAt: key.expiresAt }),
  });
  if (!parsed.success) return malformed(parsed.error);
  const merchant = await merchants.findOne({ _id: merchantId }, { projection: { keys: true } });
  if (!merchant) return unknownMerchant(merchantId);
  if (merchant.keys.some(({ hash }) => hash === parsed.data.hash)) return keyTaken();
  const keys = withKey(merchant.keys, parsed.data, nowMs);
  if (!keys.ok)
    return no('key.tooMany', `${merchantId} has two live keys for ${keys.refusal}: remove one of them first`);
  return saveKeys(merchants, merchantId, { was: merchant.keys, keys: [...keys.value], publicKey });
}

/** Removes a key by its SHA-256, but never the last one. */
export async function removeKey(
  merchants: Collection<MerchantDocument>,
  merchantId: string,
  keyHash: string,
): Change {
  const filter = { _id: merchantId, 'keys.hash': keyHash, 'keys.1': { $exists: true } };
  const result = await merchants.updateOne(filter, { $pull: { keys: { hash: keyHash } } });
  if (result.matchedCount > 0) return accept(null);
  return no('key.unknown', `${merchantId} has no such key, or no other one`);
}

/** Replaces the keys that the decision was made on; no other change is lost. */
async function saveKeys(
  merchants: Collection<MerchantDocument>,
  merchantId: string,
  change: {
    readonly was: MerchantDocument['keys'];
    readonly keys: MerchantDocument['keys'];
    readonly publicKey: string;
  },
): Change<{ readonly publicKey: string }> {
  const { was, keys, publicKey } = change;
  try {
    const result = await merchants.updateOne({ _id: merchantId, keys: was }, { $set: { keys } });
    if (result.matchedCount > 0) return accept({ publicKey });
    return no('key.changed', `the keys of ${merchantId} have just been changed by somebody else: try again`);
  } catch (error) {
    if (duplicateOf(error) === undefined) throw error;
    return keyTaken();
  }
}
