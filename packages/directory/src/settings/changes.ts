import type { ChangeKind, FieldChangeView, Wanted } from '@pesewa/contracts';
import { accept, type Clock, checkDecision, type Ids, type Random, type Result } from '@pesewa/kernel';
import { afterCursor, countWaiting, nextCursor } from '@pesewa/messaging';
import { type ClientSession, type Db, MongoServerError } from 'mongodb';
import { MERCHANTS } from '../directory.ts';
import type { Merchant, MerchantDocument } from '../merchant.ts';
import {
  askedHashOf,
  CHANGES,
  type ChangeDocument,
  type Changed,
  type ChangeRefusal,
  type ChangeRequest,
  changeOf,
  documentOf,
  exists,
  keyTaken,
  listMerchants,
  no,
  readFrom,
  repetitionOf,
  type Settings,
  type SettingsChange,
  type TakenChange,
  unknownMerchant,
  whyUndecided,
  write,
} from './change.ts';
import { fieldChanges, staleField } from './fields.ts';
import { addressesOf, newMerchant, type Payload, settingsKinds } from './kinds.ts';

/** The dependencies of {@link createSettings}. */
export interface SettingsDeps {
  readonly db: Db;
  /** Runs work in a majority transaction, again after a conflict. */
  readonly transact: <Value>(work: (session: ClientSession) => Promise<Value>) => Promise<Value>;
  /** Why webhooks can't be sent to an address; undefined if they can. */
  readonly whyNoAddress: (url: string) => string | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly random: Pick<Random, 'bytes'>;
}

/** A change that could be applied now. */
interface Plan extends Pick<TakenChange, 'made'> {
  readonly before?: Merchant;
  readonly after: Merchant;
  readonly fields: readonly FieldChangeView[];
  readonly payload: object;
}

/** Builds {@link Settings} over the database `directory`, of a client with `useBigInt64: true`. */
export function createSettings(deps: SettingsDeps): Settings {
  const changes = deps.db.collection<ChangeDocument>(CHANGES);
  const now = () => new Date(deps.clock.nowMs());
  return {
    merchant: (merchantId) => readFrom(deps.db, merchantId),
    merchants: (query) => listMerchants(deps.db, query),
    foresee: async (request) => {
      const planned = await plan(deps, request);
      return planned.ok ? accept(planned.value.fields) : planned;
    },
    take: async (request) => {
      const known = await repetitionOf(deps.db, request);
      if (known) return known;
      const taken = await unlessKeyTaken(takeNew(deps, request));
      // The same request may have come in beside this one.
      return taken.ok ? taken : ((await repetitionOf(deps.db, request)) ?? taken);
    },
    decide: (id, verdict, by) =>
      unlessKeyTaken(deps.transact((session) => decide(deps, { id, verdict, by, at: now() }, session))),
    find: async (id) => changes.findOne({ _id: id }).then((found) => (found ? changeOf(found) : undefined)),
    countProposed: () => countWaiting(changes, { status: 'proposed' }),
    list: async ({ merchantId, status, after, limit }) => {
      const filter = { ...(merchantId !== undefined && { merchantId }), ...(status && { status }) };
      const page = await changes
        .find({ ...filter, ...afterCursor('at', after) })
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .toArray();
      return { items: page.map(changeOf), next: nextCursor(page, limit, ({ at }) => at) };
    },
  };
}

async function takeNew(deps: SettingsDeps, request: ChangeRequest): Changed<TakenChange> {
  const planned = await plan(deps, request);
  if (!planned.ok) return planned;
  const { made, fields, payload } = planned.value;
  const { merchantId, kind, reason, changeId = deps.ids.next('sc'), by: requestedBy } = request;
  const askedHash = askedHashOf(request);
  const change: SettingsChange = {
    id: changeId,
    merchantId,
    kind,
    fields,
    ...(reason !== undefined && { reason }),
    requestedBy,
    at: new Date(deps.clock.nowMs()),
    status: 'proposed',
    ...(askedHash !== undefined && { askedHash }),
  };
  if (isAtOnce(kind)) return applyAtOnce(deps, { change, payload, planned: planned.value });
  const changes = deps.db.collection<ChangeDocument>(CHANGES);
  await changes.insertOne({ ...documentOf(change), payload }, { ignoreUndefined: true });
  return accept({ change, made });
}

const isAtOnce = (kind: ChangeKind): boolean => kind === 'create' || settingsKinds[kind].isAtOnce === true;

/** What the change would do now: its address is checked, its key has no owner yet, and it changes something. */
async function plan(deps: SettingsDeps, request: ChangeRequest): Changed<Plan> {
  for (const [field, url] of addressesOf(request.wanted)) {
    const problem = deps.whyNoAddress(url);
    if (problem !== undefined) return no('invalid', `${field} ${problem}`);
  }
  const planned = await (request.kind === 'create' ? planNew(deps, request) : planChange(deps, request));
  if (!planned.ok) return planned;
  const { before, after, fields } = planned.value;
  if (fields.length === 0) return no('unchanged', `${request.merchantId} is set so already`);
  const present = new Set(before?.keys.map(({ hash }) => hash));
  const added = after.keys.flatMap(({ hash }) => (present.has(hash) ? [] : hash));
  const merchants = deps.db.collection<MerchantDocument>(MERCHANTS);
  const isTaken = added.length > 0 && (await merchants.findOne({ 'keys.hash': { $in: added } })) !== null;
  return isTaken ? keyTaken() : planned;
}

async function planNew(deps: SettingsDeps, { merchantId, wanted }: ChangeRequest): Changed<Plan> {
  const created = newMerchant(wanted as unknown as Wanted<'create'>, {
    random: deps.random,
    nowMs: deps.clock.nowMs(),
  });
  if (!created.ok) return no('invalid', created.refusal);
  if (await readFrom(deps.db, merchantId)) return exists(merchantId);
  const { merchant, made } = created.value;
  return accept({ after: merchant, made, fields: fieldChanges(undefined, merchant), payload: {} });
}

async function planChange(deps: SettingsDeps, { kind, merchantId, wanted }: ChangeRequest): Changed<Plan> {
  const before = await readFrom(deps.db, merchantId);
  if (!before) return unknownMerchant(merchantId);
  const prepared = kindOf(kind).prepare(wanted as never, {
    random: deps.random,
    nowMs: deps.clock.nowMs(),
  });
  if (!prepared.ok) return no('invalid', prepared.refusal);
  const { payload, made } = prepared.value;
  const applied = apply(kind, before, payload, deps.clock.nowMs());
  if (!applied.ok) return no('invalid', applied.refusal);
  return accept({
    before,
    after: applied.value,
    made,
    payload,
    fields: effectsOf(before, applied.value, payload),
  });
}

/** Applies what needs one operator, and records it, in one transaction. */
function applyAtOnce(
  deps: SettingsDeps,
  {
    change,
    payload,
    planned,
  }: { readonly change: SettingsChange; readonly payload: object; readonly planned: Plan },
): Changed<TakenChange> {
  const { kind, merchantId } = change;
  const changes = deps.db.collection<ChangeDocument>(CHANGES);
  return deps.transact(async (session) => {
    const before = await readFrom(deps.db, merchantId, session);
    if (kind === 'create' && before) return exists(merchantId);
    const after =
      kind === 'create' ? accept(planned.after) : applyTo(deps, before, { kind, merchantId, payload });
    if (!after.ok) return after;
    const fields = effectsOf(before, after.value, payload);
    if (fields.length === 0) return no('unchanged', `${merchantId} is set so already`);
    await write(deps.db, after.value, session);
    const applied: SettingsChange = { ...change, fields, status: 'applied', decidedAt: change.at };
    await changes.insertOne(documentOf(applied), { session });
    return accept({ change: applied, made: planned.made });
  });
}

interface Decision {
  readonly id: string;
  readonly verdict: { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string };
  readonly by: string;
  readonly at: Date;
}

async function decide(
  deps: SettingsDeps,
  { id, verdict, by, at }: Decision,
  session: ClientSession,
): Changed<SettingsChange> {
  const changes = deps.db.collection<ChangeDocument>(CHANGES);
  const found = await changes.findOne({ _id: id }, { session });
  if (!found) return no('not_found', 'there is no such change');
  const change = changeOf(found);
  const { status } = change;
  const judged = checkDecision(
    { ...change, status: status === 'applied' ? 'approved' : status },
    { verdict: verdict.kind, by, at },
  );
  if (!judged.ok) return no(judged.refusal, whyUndecided(judged.refusal, change, by));
  if (judged.value === 'repeated') return accept(change);
  if (verdict.kind === 'approve') {
    const after = await afterApproval(deps, { change, payload: found.payload ?? {} }, session);
    if (!after.ok) return after;
    await write(deps.db, after.value, session);
  }
  const decided: SettingsChange = {
    ...change,
    ...(verdict.kind === 'approve'
      ? { status: 'applied' }
      : { status: 'rejected', rejectedFor: verdict.reason }),
    decidedBy: by,
    decidedAt: at,
  };
  // Without the payload: a secret is kept by its merchant alone, if at all.
  await changes.replaceOne({ _id: id }, documentOf(decided), { session });
  return accept(decided);
}

/** The merchant as an approved change makes it, if that is still what was proposed. */
async function afterApproval(
  deps: SettingsDeps,
  { change, payload }: { readonly change: SettingsChange; readonly payload: object },
  session: ClientSession,
): Changed<Merchant> {
  const { kind, merchantId, fields, at } = change;
  const before = await readFrom(deps.db, merchantId, session);
  const after = applyTo(deps, before, { kind, merchantId, payload });
  if (!after.ok) return after;
  const stale = staleField(fields, effectsOf(before, after.value, payload));
  // A setting that was changed and is back again was decided upon since, by others and for other reasons.
  const since = await deps.db.collection<ChangeDocument>(CHANGES).findOne(
    {
      merchantId,
      status: 'applied',
      decidedAt: { $gte: at },
      'fields.field': { $in: fields.map(({ field }) => field) },
    },
    { session },
  );
  const named = stale ?? since?.fields.find((one) => fields.some(({ field }) => field === one.field))?.field;
  if (named === undefined) return after;
  return no('stale', `${named} was changed since this was proposed: reject it and propose it again`);
}

/** From what to what each setting goes, and for how many hours the secrets before a new one sign too. */
function effectsOf(
  before: Merchant | undefined,
  after: Merchant,
  payload: object,
): readonly FieldChangeView[] {
  const changes = fieldChanges(before, after);
  const { graceHours }: Partial<Payload<'webhooks'>> = payload;
  if (graceHours === undefined) return changes;
  return [...changes, { field: 'webhooks.graceHours', from: null, to: String(graceHours), currency: null }];
}

function applyTo(
  { clock }: Pick<SettingsDeps, 'clock'>,
  before: Merchant | undefined,
  change: Pick<SettingsChange, 'kind' | 'merchantId'> & { readonly payload: object },
): Result<Merchant, ChangeRefusal> {
  if (!before) return unknownMerchant(change.merchantId);
  const applied = apply(change.kind, before, change.payload, clock.nowMs());
  return applied.ok ? applied : no('impossible', applied.refusal);
}

const kindOf = (kind: ChangeKind) => {
  if (kind === 'create') throw new TypeError('a merchant that is there can not be created');
  return settingsKinds[kind];
};

/** Applies what was stored for its kind; the types belong together by the kind. */
const apply = <Kind extends ChangeKind>(kind: Kind, merchant: Merchant, payload: object, nowMs: number) =>
  kindOf(kind).apply(merchant, payload as Payload<Kind> as never, nowMs);

async function unlessKeyTaken<Value>(changing: Changed<Value>): Changed<Value> {
  try {
    return await changing;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11_000) return keyTaken();
    throw error;
  }
}
