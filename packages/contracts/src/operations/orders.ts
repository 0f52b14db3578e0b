import { isCurrency } from '@pesewa/kernel';
import { z } from 'zod';
import { commandId } from '../text.ts';
import { breakIdText } from './breaks.ts';
import { pageOf } from './lists.ts';
import { declareOperations, reasonLine as reason, strictFields } from './operation.ts';

/** The statuses of orders, in the order in which an order passes through them. */
export const orderStatuses = ['proposed', 'approved', 'rejected', 'applied', 'refused'] as const;

const directions = ['credit', 'debit', 'surplus', 'shortage'] as const;

const orderView = z
  .object({
    commandId: z.string(),
    kind: z.enum(['fund', 'fund-float', 'withdraw', 'withdraw-float', 'adjust', 'suspense']),
    /** Either the merchant of the wallet, or the rail of the float. */
    merchantId: z.string().optional(),
    rail: z.string().optional(),
    currency: z.string(),
    amount: z.string(),
    direction: z.enum(directions).optional(),
    reason: z.string().optional(),
    /** The break that it corrects. */
    breakId: z.string().optional(),
    status: z.enum(orderStatuses),
    requestedBy: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string().optional(),
    approvedBy: z.string().optional(),
    approvedAt: z.string().optional(),
    rejectedBy: z.string().optional(),
    rejectedAt: z.string().optional(),
    rejectedFor: z.string().optional(),
    appliedAt: z.string().optional(),
    refusedFor: z.string().optional(),
  })
  .meta({ id: 'Order' });

/** An order to the ledger; amounts are decimal text, times in UTC. */
export type OrderView = z.output<typeof orderView>;

/** The kind of an order, as in paths. */
export type OrderKindName = OrderView['kind'];

/** The name of a merchant or a rail, as an operator writes it. */
const name = z.string({ error: 'is required' }).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'must start with a letter or digit and have 1 to 64 letters, digits, dots, underscores or hyphens',
});

const common = {
  currency: z.string({ error: 'is required' }).refine(isCurrency, { error: 'must be an ISO 4217 code' }),
  amount: z.string({ error: 'must be a decimal text' }),
  commandId: commandId.optional(),
};
const breakId = breakIdText.optional();
const wallet = { ...common, merchantId: name };
const float = { ...common, rail: name };
const oneOf = <const Names extends readonly string[]>(...names: Names) =>
  z.enum(names, { error: `must be ${names.join(' or ')}` });

const fields = <Shape extends z.ZodRawShape>(shape: Shape) => strictFields(shape, describeUnknown);

function describeUnknown(keys: readonly string[]): string {
  const identity = keys.find((key) => key === 'requestedBy' || key === 'approvedBy');
  if (identity !== undefined) return `${identity} must be left out: your token says who you are`;
  return `${keys.join(', ')} is no field of this order`;
}

const propose = <const Kind extends OrderKindName, Body extends z.ZodType>(
  kind: Kind,
  summary: string,
  body: Body,
) =>
  ({
    method: 'post',
    path: `/commands/${kind}`,
    summary: `Proposes ${summary}`,
    body,
    answers: { 202: orderView },
    refusals: {
      invalid: 400,
      duplicate: 409,
      pending: 409,
      unknown_merchant: 409,
      unknown_wallet: 409,
      unknown_rail: 409,
    },
  }) as const;

/** The proposals of orders of money (ADR 17), by the kinds of orders. */
export const proposalOperations = declareOperations({
  fund: propose('fund', 'to pay into a wallet', fields({ ...wallet, reason: reason.optional() })),
  'fund-float': propose('fund-float', 'to pay into a float', fields({ ...float, reason: reason.optional() })),
  withdraw: propose('withdraw', 'to pay out of a wallet', fields({ ...wallet, reason: reason.optional() })),
  'withdraw-float': propose(
    'withdraw-float',
    'to pay out of a float',
    fields({ ...float, reason: reason.optional() }),
  ),
  adjust: propose(
    'adjust',
    'to correct a wallet against suspense',
    fields({ ...wallet, direction: oneOf('credit', 'debit'), reason, breakId }),
  ),
  suspense: propose(
    'suspense',
    'to correct a float against suspense',
    fields({ ...float, direction: oneOf('surplus', 'shortage'), reason, breakId }),
  ),
});

const decisionRefusals = { not_found: 404, same_operator: 403, expired: 409, decided: 409 } as const;

/** The orders of money. */
export const orderOperations = declareOperations({
  list: {
    method: 'get',
    path: '/commands',
    summary: 'Lists orders, newest first',
    query: z.object({
      status: z
        .enum(['', ...orderStatuses], { error: `must be one of ${orderStatuses.join(', ')}` })
        .optional()
        .describe('only those with this status'),
      breakId: breakId.describe('only those that correct a break'),
      cursor: z.string().optional(),
    }),
    answers: { 200: pageOf(orderView) },
    refusals: { invalid: 400 },
    pages: 'cursor',
  },
  show: {
    method: 'get',
    path: '/commands/{commandId}',
    summary: 'Shows an order, and what became of it',
    answers: { 200: orderView },
    refusals: { not_found: 404 },
  },
  approve: {
    method: 'post',
    path: '/commands/{commandId}/approve',
    summary: 'Approves an order that another operator proposed',
    caller: 'second',
    answers: { 200: orderView },
    refusals: decisionRefusals,
  },
  reject: {
    method: 'post',
    path: '/commands/{commandId}/reject',
    summary: 'Rejects a proposed order',
    body: fields({ reason }),
    answers: { 200: orderView },
    refusals: decisionRefusals,
  },
});
