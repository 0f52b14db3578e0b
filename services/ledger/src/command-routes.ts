import { commandId, line } from '@pesewa/contracts';
import { isCurrency, parseAmount } from '@pesewa/kernel';
import { answerJson, forNamedOperators, operatorOf, readOperatorBody, refuseOperator } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { formatCursor, orderKindNames, orderStatuses, parseCursor, viewOrder } from './command-views.ts';
import type { Commands, FollowedOrder } from './commands.ts';
import type { DecisionRefusal, OperatorRequest, OrderKind, Verdict } from './domain/orders.ts';
import { name } from './operator-answers.ts';
import type { Targets } from './targets.ts';

const ORDERS_PER_PAGE = 100;
const REASON_LENGTH_MAX = 200;

const reason = line(REASON_LENGTH_MAX);

const common = {
  currency: z.string({ error: 'is required' }).refine(isCurrency, { error: 'must be an ISO 4217 code' }),
  amount: z.string({ error: 'must be a decimal text' }),
  commandId: commandId.optional(),
};
const wallet = { ...common, merchantId: name };
const float = { ...common, rail: name };
const oneOf = <const Names extends readonly string[]>(...names: Names) =>
  z.enum(names, { error: `must be ${names.join(' or ')}` });

/** Unknown fields are refused: where money moves, a mistyped field must not be ignored. */
const order = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? describeUnknown(issue.keys) : 'the body must be a JSON object',
  });

function describeUnknown(keys: readonly string[]): string {
  const identity = keys.find((key) => key === 'requestedBy' || key === 'approvedBy');
  if (identity !== undefined) return `${identity} must be left out: your token says who you are`;
  return `${keys.join(', ')} is no field of this order`;
}

const bodies = {
  fund: order({ ...wallet, reason: reason.optional() }),
  fundFloat: order({ ...float, reason: reason.optional() }),
  withdraw: order({ ...wallet, reason: reason.optional() }),
  withdrawFloat: order({ ...float, reason: reason.optional() }),
  adjust: order({ ...wallet, direction: oneOf('credit', 'debit'), reason }),
  suspense: order({ ...float, direction: oneOf('surplus', 'shortage'), reason }),
} satisfies Record<OrderKind, z.ZodType>;

const rejection = order({ reason });

/** The dependencies of the routes of orders. */
export interface CommandRouteDeps {
  readonly commands: Commands;
  readonly targets: Targets;
  /** Whether the shared token, which belongs to no person, may order and decide: only in development. */
  readonly sharedMayOrder: boolean;
}

/** Adds the routes of the operators' orders: propose, approve, reject, look (ADR 17). */
export function addCommandRoutes(app: Hono, deps: CommandRouteDeps): void {
  const { commands } = deps;
  app.post('/commands/*', forNamedOperators(deps.sharedMayOrder));
  for (const kind of Object.keys(bodies) as OrderKind[]) {
    app.post(`/commands/${orderKindNames[kind]}`, (context) => propose(context, deps, kind));
  }

  app.get('/commands', async (context) => {
    const wanted = context.req.query('status') ?? '';
    const status = orderStatuses.find((candidate) => candidate === wanted);
    if (wanted !== '' && status === undefined) {
      return refuseOperator(context, 400, 'invalid', `status must be one of ${orderStatuses.join(', ')}`);
    }
    const cursor = context.req.query('cursor') ?? '';
    const after = parseCursor(cursor);
    if (cursor !== '' && after === undefined) {
      return refuseOperator(context, 400, 'invalid', 'cursor must be the next of an earlier page');
    }
    const page = await commands.list({
      limit: ORDERS_PER_PAGE,
      ...(status && { status }),
      ...(after && { after }),
    });
    const next = page.next && formatCursor(page.next);
    return answerJson(context, 200, { items: page.items.map(viewOrder), next });
  });

  app.get('/commands/:commandId', async (context) => {
    const found = await commands.find(context.req.param('commandId'));
    return found ? answerJson(context, 200, viewOrder(found)) : unknown(context);
  });

  app.post('/commands/:commandId/approve', (context) => decide(context, commands, { kind: 'approve' }));

  app.post('/commands/:commandId/reject', async (context) => {
    const body = await readOperatorBody(context, rejection);
    return body.ok ? decide(context, commands, { kind: 'reject', reason: body.value.reason }) : body.refusal;
  });
}

async function propose(
  context: Context,
  { commands, targets }: CommandRouteDeps,
  kind: OrderKind,
): Promise<Response> {
  const body = await readOperatorBody(context, bodies[kind]);
  if (!body.ok) return body.refusal;
  const request = requestOf(kind, body.value);
  if (!request) {
    const message = `amount must be a positive decimal text, no finer than ${body.value.currency} allows`;
    return refuseOperator(context, 400, 'invalid', message);
  }
  const unknownTarget = await targets.whyUnknown(request);
  if (unknownTarget) return refuseOperator(context, 409, unknownTarget.code, unknownTarget.message);
  const taken = await commands.propose(request, operatorOf(context), body.value.commandId);
  return taken.ok
    ? answerJson(context, 202, viewOrder(taken.value))
    : refuseOperator(context, 409, 'duplicate', 'commandId was used before for another order');
}

async function decide(context: Context, commands: Commands, verdict: Verdict): Promise<Response> {
  const id = context.req.param('commandId') ?? '';
  const decided = await commands.decide(id, verdict, operatorOf(context));
  if (decided.ok) return answerJson(context, 200, viewOrder(decided.value));
  return decided.refusal === 'order.unknown'
    ? unknown(context)
    : refuseDecision(context, decided.refusal, await commands.find(id));
}

function refuseDecision(
  context: Context,
  refusal: DecisionRefusal,
  followed: FollowedOrder | undefined,
): Response {
  switch (refusal) {
    case 'order.same_operator': {
      const message = `${operatorOf(context)} proposed this order: another operator must approve it, with a token of their own`;
      return refuseOperator(context, 403, 'same_operator', message);
    }
    case 'order.expired':
      return refuseOperator(
        context,
        409,
        'expired',
        'the proposal is older than seven days: reject it and propose it again',
      );
    case 'order.decided': {
      const status = followed?.order.status ?? 'decided';
      return refuseOperator(
        context,
        409,
        'decided',
        `the order is ${status} already: propose another to change that`,
      );
    }
    default:
      throw new TypeError(`no such refusal: ${JSON.stringify(refusal satisfies never)}`);
  }
}

type Body = { [Kind in OrderKind]: z.output<(typeof bodies)[Kind]> }[OrderKind];

/** The order in the body; undefined if its amount is invalid. */
function requestOf(kind: OrderKind, body: Body): OperatorRequest | undefined {
  const amount = parseAmount(body.amount, body.currency);
  if (!amount.ok || amount.value.minor <= 0n) return undefined;
  const target = 'merchantId' in body ? body.merchantId : body.rail;
  const money = { target, currency: body.currency, amount: amount.value.minor };
  if ('direction' in body) {
    const { direction, reason: why } = body;
    return direction === 'credit' || direction === 'debit'
      ? { kind: 'adjust', ...money, direction, reason: why }
      : { kind: 'suspense', ...money, direction, reason: why };
  }
  if (kind === 'adjust' || kind === 'suspense') return undefined;
  return { kind, ...money, ...(body.reason !== undefined && { reason: body.reason }) };
}

function unknown(context: Context): Response {
  return refuseOperator(context, 404, 'not_found', 'there is no such order');
}
