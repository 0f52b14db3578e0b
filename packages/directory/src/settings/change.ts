import { hash } from 'node:crypto';
import type {
  ChangeKind,
  changeStatuses,
  FieldChangeView,
  MerchantSummaryView,
  PageCursor,
  Wanted,
} from '@pesewa/contracts';
import { accept, type ProposalRefusal, type Result, refuse, unreachable } from '@pesewa/kernel';
import type { countWaiting } from '@pesewa/messaging';
import type { ClientSession, Db } from 'mongodb';
import { MERCHANTS } from '../directory.ts';
import { type Merchant, type MerchantDocument, readMerchant } from '../merchant.ts';
import type { Made } from './kinds.ts';

/** A change of a merchant's settings, as it is kept for ever: who, when, why, and from what to what. */
export interface SettingsChange {
  readonly id: string;
  readonly merchantId: string;
  readonly kind: ChangeKind;
  readonly fields: readonly FieldChangeView[];
  readonly reason?: string;
  readonly requestedBy: string;
  readonly at: Date;
  readonly status: (typeof changeStatuses)[number];
  /** Absent while it is proposed, and for what one operator does alone. */
  readonly decidedBy?: string;
  readonly decidedAt?: Date;
  readonly rejectedFor?: string;
  /** The SHA-256 of what was asked for under an id that the asker made; in hex. */
  readonly askedHash?: string;
}

/** Why a change is not taken or not applied; the message names the field and holds no secret. */
export interface ChangeRefusal {
  readonly code:
    | ProposalRefusal
    | 'not_found'
    | 'invalid'
    | 'exists'
    | 'key_taken'
    | 'impossible'
    | 'unchanged'
    | 'stale';
  readonly message: string;
}

/** What an operator wants of a merchant. */
export interface ChangeRequest<Kind extends ChangeKind = ChangeKind> {
  readonly kind: Kind;
  readonly merchantId: string;
  readonly wanted: Wanted<Kind>;
  /** Made by who asks, who gets the same change if they ask again. */
  readonly changeId?: string | undefined;
  readonly reason?: string | undefined;
  readonly by: string;
}

/** A change that was taken, and what was made for it, which a repetition does not have. */
export interface TakenChange {
  readonly change: SettingsChange;
  readonly made: Made;
}

/** What became of asking for a change. */
export type Changed<Value> = Promise<Result<Value, ChangeRefusal>>;

/** Changes merchants' settings (ADR 80): what could cost money by two operators, and all with a history. */
export interface Settings {
  readonly merchant: (merchantId: string) => Promise<Merchant | undefined>;
  /** What the change would alter now; nothing is written. */
  readonly foresee: (request: ChangeRequest) => Changed<readonly FieldChangeView[]>;
  /** Records a proposal in one write, or applies and records at once what one operator may do alone. */
  readonly take: (request: ChangeRequest) => Changed<TakenChange>;
  /** Applies a proposal and marks it applied, or rejects it, in one transaction. */
  readonly decide: (
    id: string,
    verdict: { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string },
    by: string,
  ) => Changed<SettingsChange>;
  /** Merchants by their ids, from the one after another on. */
  readonly merchants: (query: {
    /** A part of the name, in any case, or the beginning of the id. */
    readonly search?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }) => Promise<{ readonly items: readonly MerchantSummaryView[]; readonly next: string | null }>;
  readonly find: (id: string) => Promise<SettingsChange | undefined>;
  /** How many wait for another operator. */
  readonly countProposed: () => ReturnType<typeof countWaiting>;
  /** The newest first. */
  readonly list: (query: {
    readonly merchantId?: string | undefined;
    readonly status?: SettingsChange['status'] | undefined;
    readonly after?: PageCursor | undefined;
    readonly limit: number;
  }) => Promise<{ readonly items: readonly SettingsChange[]; readonly next: PageCursor | null }>;
}

/** A change as MongoDB holds it. */
export type ChangeDocument = Omit<SettingsChange, 'id'> & {
  readonly _id: string;
  /** What it takes to apply it; removed once it is decided, since it may hold a secret. */
  readonly payload?: object;
};

/** The collection of the `directory` database that holds the changes of settings. */
export const CHANGES = 'changes';

/** A merchant as it is at present, or as the transaction sees it. */
export async function readFrom(
  db: Db,
  merchantId: string,
  session?: ClientSession,
): Promise<Merchant | undefined> {
  const found = await db
    .collection<MerchantDocument>(MERCHANTS)
    .findOne({ _id: merchantId }, { ...(session && { session }) });
  return found ? readMerchant(found) : undefined;
}

/** How long the database may look for names, of which it has no index: there are few merchants. */
const SEARCH_TIMEOUT_MS = 3_000;

/** Merchants by their ids, from the one after another on. */
export async function listMerchants(
  db: Db,
  { search, after, limit }: Parameters<Settings['merchants']>[0],
): ReturnType<Settings['merchants']> {
  const filter = {
    ...(after !== undefined && { _id: { $gt: after } }),
    ...(search !== undefined && { $or: namedLike(search) }),
  };
  const options = { projection: { name: 1, status: 1 }, maxTimeMS: SEARCH_TIMEOUT_MS };
  const page = await db
    .collection<MerchantDocument>(MERCHANTS)
    .find(filter, options)
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
  const next = page.length === limit ? (page.at(-1)?._id ?? null) : null;
  return { items: page.map(({ _id: id, name, status }) => ({ id, name, status })), next };
}

function namedLike(search: string) {
  const literally = search.replaceAll(/[^\p{L}\p{N}\s]/gu, String.raw`\$&`);
  return [{ _id: { $regex: `^${literally.toLowerCase()}` } }, { name: { $regex: literally, $options: 'i' } }];
}

/** Writes a merchant that was read in the same transaction: if it changes meanwhile, the transaction runs again. */
export async function write(db: Db, { id, ...settings }: Merchant, session: ClientSession): Promise<void> {
  const document = settings as Omit<MerchantDocument, '_id'>;
  await db
    .collection<MerchantDocument>(MERCHANTS)
    .replaceOne({ _id: id }, document, { session, upsert: true, ignoreUndefined: true });
}

/** The hash by which a repetition is known; undefined without an id of its own. */
export const askedHashOf = ({ changeId, ...asked }: ChangeRequest): string | undefined =>
  changeId === undefined ? undefined : hash('sha256', JSON.stringify(asked));

/** The change that was asked for under the request's id already, or a refusal if that was another one. */
export async function repetitionOf(
  db: Db,
  request: ChangeRequest,
): Promise<Result<TakenChange, ChangeRefusal> | undefined> {
  const { changeId } = request;
  if (changeId === undefined) return undefined;
  const found = await db.collection<ChangeDocument>(CHANGES).findOne({ _id: changeId });
  if (!found) return undefined;
  return found.askedHash === askedHashOf(request)
    ? accept({ change: changeOf(found), made: {} })
    : no('exists', `changeId: ${changeId} is another change`);
}

/** A change to be stored. */
export const documentOf = ({ id, ...change }: SettingsChange): ChangeDocument => ({ _id: id, ...change });

/** A change as it was stored, without what it takes to apply it. */
export const changeOf = ({ _id, payload: _payload, ...change }: ChangeDocument): SettingsChange => ({
  id: _id,
  ...change,
});

/** Refuses a change. */
export function no<const Code extends ChangeRefusal['code']>(code: Code, message: string) {
  return refuse<ChangeRefusal>({ code, message });
}

/** The refusal of a key that a merchant has. */
export const keyTaken = () => no('key_taken', 'the public key belongs to a merchant already');
/** The refusal of an id that a merchant has. */
export const exists = (merchantId: string) => no('exists', `${merchantId} exists already`);
/** The refusal of an id that no merchant has. */
export const unknownMerchant = (merchantId: string) => no('not_found', `there is no merchant ${merchantId}`);

/** Why a decision does not count. */
export function whyUndecided(refusal: ProposalRefusal, { status }: SettingsChange, by: string): string {
  switch (refusal) {
    case 'same_operator':
      return `${by} proposed this change: another operator must approve it, with a token of their own`;
    case 'expired':
      return 'the proposal is older than seven days: reject it and propose it again';
    case 'decided':
      return `the change is ${status} already: propose another to change that`;
    default:
      return unreachable(refusal);
  }
}
