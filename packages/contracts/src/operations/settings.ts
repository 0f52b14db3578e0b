import { z } from 'zod';
import { pageLimit, pageOf, textUpTo } from './lists.ts';
import { declareOperations, reasonLine } from './operation.ts';
import { type ChangeKind, changeKinds, fields, wantedShapes } from './wanted-settings.ts';

const SEARCH_LENGTH_MAX = 64;

/** The statuses of changes of settings, in the order in which a change passes through them. */
export const changeStatuses = ['proposed', 'applied', 'rejected'] as const;

/** Whether a merchant's requests are taken. */
export const merchantStatuses = ['active', 'suspended'] as const;

const setting = z.object({
  /** Its path, such as `wallets.GHS.payoutFee.percent`. */
  field: z.string(),
  value: z.string(),
  /** Of an amount, which is decimal text; null for everything else. */
  currency: z.string().nullable(),
});

/** One setting of a merchant in text; keys and secrets only by the beginning of their SHA-256. */
export type SettingView = z.output<typeof setting>;

const fieldChange = z.object({
  field: z.string(),
  /** Null if there is none. */
  from: z.string().nullable(),
  to: z.string().nullable(),
  currency: z.string().nullable(),
});

/** What a change does to one setting. */
export type FieldChangeView = z.output<typeof fieldChange>;

const change = z.object({
  id: z.string(),
  merchantId: z.string(),
  kind: z.enum(changeKinds),
  fields: z.array(fieldChange),
  reason: z.string().optional(),
  status: z.enum(changeStatuses),
  requestedBy: z.string(),
  requestedAt: z.string(),
  /** Until when it can be approved. */
  expiresAt: z.string().optional(),
  approvedBy: z.string().optional(),
  appliedAt: z.string().optional(),
  rejectedBy: z.string().optional(),
  rejectedAt: z.string().optional(),
  rejectedFor: z.string().optional(),
});
const changeView = change.meta({ id: 'SettingsChange' });

/** A change of a merchant's settings: who asked, who decided, when, why, and from what to what; times in UTC. */
export type ChangeView = z.output<typeof changeView>;

const made = z.object({
  publicKey: z.string().optional(),
  /** The keys of a new merchant; one key may have both scopes. */
  publicKeys: z.object({ payouts: z.string(), collections: z.string() }).optional(),
  webhookSecret: z.string().optional(),
  signingSecret: z.string().optional(),
});
/** A change as it is answered to who asked for it, with what was made for it; that is shown only here. */
const takenView = change.extend({ made }).meta({ id: 'SettingsChangeTaken' });

/** A change that was taken, with what was made for it. */
export type TakenChangeView = z.output<typeof takenView>;

const foreseenView = z.object({ fields: z.array(fieldChange) }).meta({ id: 'SettingsChangeForeseen' });

const merchantView = z
  .object({ merchantId: z.string(), settings: z.array(setting) })
  .meta({ id: 'MerchantSettings' });

const merchantSummary = z
  .object({ id: z.string(), name: z.string(), status: z.enum(merchantStatuses) })
  .meta({ id: 'Merchant' });

/** A merchant in a list. */
export type MerchantSummaryView = z.output<typeof merchantSummary>;

const about = {
  /** Made by who asks: a change that was asked for under it already is answered as it is, without what was made for it. */
  changeId: z
    .string()
    .regex(/^sc-[0-9a-f]{32}$/, { error: 'must be sc- and 32 hex digits, new for each change' })
    .optional(),
  reason: reasonLine.optional(),
  dryRun: z.boolean().optional().describe('show what would change, and change nothing'),
};

const refusals = {
  invalid: 400,
  not_found: 404,
  exists: 409,
  key_taken: 409,
  impossible: 409,
  unchanged: 409,
} as const;

const asked = <Shape extends z.ZodRawShape>(shape: Shape) => fields({ ...shape, ...about });

const propose = <const Kind extends ChangeKind, Body extends z.ZodType>(
  kind: Kind,
  summary: string,
  body: Body,
) =>
  ({
    method: 'post',
    path: `/merchants/{merchantId}/changes/${kind}`,
    summary: `Proposes ${summary}`,
    body,
    role: 'admin',
    answers: { 202: takenView },
    dryRun: foreseenView,
    refusals,
  }) as const;

const apply = <const Kind extends ChangeKind, Body extends z.ZodType>(
  kind: Kind,
  summary: string,
  body: Body,
) => ({ ...propose(kind, '', body), summary: `${summary} at once`, answers: { 201: takenView } }) as const;

/** The changes of merchants' settings, by their kinds: proposed by one operator, or applied at once if they only stop harm. */
export const changeOperations = declareOperations({
  create: { ...apply('create', 'Creates a merchant', asked(wantedShapes.create)), path: '/merchants' },
  wallet: propose('wallet', 'another wallet, or other prices of one', asked(wantedShapes.wallet)),
  limits: propose('limits', 'other limits', asked(wantedShapes.limits)),
  webhooks: propose('webhooks', 'other webhook addresses, or another secret', asked(wantedShapes.webhooks)),
  access: propose('access', 'other addresses that requests may come from', asked(wantedShapes.access)),
  signatures: propose(
    'signatures',
    'whether requests must be signed, or other secrets for it',
    asked(wantedShapes.signatures),
  ),
  'add-key': propose('add-key', 'another public key', asked(wantedShapes['add-key'])),
  'remove-key': apply('remove-key', 'Removes a public key', asked(wantedShapes['remove-key'])),
  suspend: apply('suspend', 'Suspends a merchant', asked(wantedShapes.suspend)),
  resume: propose('resume', 'to let a suspended merchant go on', asked(wantedShapes.resume)),
});

const decisionRefusals = {
  not_found: 404,
  same_operator: 403,
  expired: 409,
  decided: 409,
  stale: 409,
  key_taken: 409,
  impossible: 409,
} as const;

/** Merchants' settings, and the history of their changes. */
export const settingsOperations = declareOperations({
  merchants: {
    method: 'get',
    path: '/merchants',
    summary: 'Lists the merchants, by their ids',
    query: z.object({
      /** A part of the name, in any case, or the beginning of the id. */
      search: textUpTo(SEARCH_LENGTH_MAX).min(1, { error: 'must not be empty' }).optional(),
      /** The id after which the page begins. */
      cursor: textUpTo(32).optional(),
      limit: pageLimit(500, 100),
    }),
    answers: { 200: pageOf(merchantSummary) },
    refusals: { invalid: 400 },
    pages: 'cursor',
  },
  merchant: {
    method: 'get',
    path: '/merchants/{merchantId}',
    summary: "Shows a merchant's settings, without keys and secrets",
    answers: { 200: merchantView },
    refusals: { not_found: 404 },
  },
  list: {
    method: 'get',
    path: '/changes',
    summary: "Lists changes of merchants' settings, newest first",
    query: z.object({
      status: z
        .enum(['', ...changeStatuses], { error: `must be one of ${changeStatuses.join(', ')}` })
        .optional()
        .describe('only those with this status'),
      merchant: textUpTo(32).optional().describe('only those of one merchant, by its id'),
      cursor: z.string().optional(),
    }),
    answers: { 200: pageOf(changeView) },
    refusals: { invalid: 400 },
    pages: 'cursor',
  },
  show: {
    method: 'get',
    path: '/changes/{id}',
    summary: 'Shows a change of settings',
    answers: { 200: changeView },
    refusals: { not_found: 404 },
  },
  approve: {
    method: 'post',
    path: '/changes/{id}/approve',
    summary: 'Applies a change that another operator proposed',
    caller: 'second',
    answers: { 200: changeView },
    refusals: decisionRefusals,
  },
  reject: {
    method: 'post',
    path: '/changes/{id}/reject',
    summary: 'Rejects a proposed change',
    body: fields({ reason: reasonLine }),
    answers: { 200: changeView },
    refusals: decisionRefusals,
  },
});
