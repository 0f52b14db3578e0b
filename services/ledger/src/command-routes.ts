import {
  formatPageCursor,
  type OrderKindName,
  orderOperations,
  pageCursor,
  proposalOperations,
} from '@pesewa/contracts';
import { amountProblem, type Money, parsePositiveAmount, unreachable } from '@pesewa/kernel';
import { answer, foreignCursor, refused, type ServedRequest, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { viewOrder } from './command-views.ts';
import type { Commands, FollowedOrder } from './commands.ts';
import type { DecisionRefusal, OperatorRequest, OrderKind, Verdict } from './domain/orders.ts';
import type { Targets } from './targets.ts';

const ORDERS_PER_PAGE = 100;

/** The dependencies of the routes of orders. */
export interface CommandRouteDeps {
  readonly commands: Commands;
  readonly targets: Targets;
}

/** Adds the routes of the operators' orders: propose, approve, reject, look (ADR 17). */
export function addCommandRoutes(app: Hono, deps: CommandRouteDeps): void {
  const { commands } = deps;
  const proposing = (kind: OrderKind) => (request: { readonly body: Body; readonly operator: string }) =>
    propose(deps, kind, request);
  serveOperations(app, proposalOperations, {
    fund: proposing('fund'),
    'fund-float': proposing('fundFloat'),
    withdraw: proposing('withdraw'),
    'withdraw-float': proposing('withdrawFloat'),
    adjust: proposing('adjust'),
    suspense: proposing('suspense'),
  });
  serveOperations(app, orderOperations, {
    list: async ({ query: { status, breakId, cursor = '' } }) => {
      const after = pageCursor.safeParse(cursor).data;
      if (cursor !== '' && after === undefined) return foreignCursor;
      const page = await commands.list({
        limit: ORDERS_PER_PAGE,
        ...(status && { status }),
        ...(breakId !== undefined && { breakId }),
        ...(after && { after }),
      });
      return answer(200, {
        items: page.items.map(viewOrder),
        next: page.next && formatPageCursor(page.next),
      });
    },
    show: async ({ parameters: { commandId } }) => {
      const found = await commands.find(commandId);
      return found ? answer(200, viewOrder(found)) : unknown;
    },
    approve: ({ parameters: { commandId }, operator }) =>
      decide(commands, commandId, { kind: 'approve' }, operator),
    reject: ({ parameters: { commandId }, body: { reason }, operator }) =>
      decide(commands, commandId, { kind: 'reject', reason }, operator),
  });
}

async function propose(
  { commands, targets }: CommandRouteDeps,
  kind: OrderKind,
  { body, operator }: { readonly body: Body; readonly operator: string },
) {
  const amount = parsePositiveAmount(body.amount, body.currency);
  if (!amount.ok) return refused('invalid', `amount ${amountProblem(amount.refusal, body.currency)}`);
  const request = requestOf(kind, body, amount.value);
  if (!request) return refused('invalid', 'direction is required');
  const unknownTarget = await targets.whyUnknown(request);
  if (unknownTarget) return refused(unknownTarget.code, unknownTarget.message);
  const taken = await commands.propose(request, operator, body.commandId);
  if (taken.ok) return answer(202, viewOrder(taken.value));
  return taken.refusal === 'command.differs'
    ? refused('duplicate', 'commandId was used before for another order')
    : refused('pending', 'another order for this break was proposed: approve it, or reject it first');
}

async function decide(commands: Commands, id: string, verdict: Verdict, operator: string) {
  const decided = await commands.decide(id, verdict, operator);
  if (decided.ok) return answer(200, viewOrder(decided.value));
  return decided.refusal === 'order.unknown'
    ? unknown
    : refuseDecision(decided.refusal, operator, await commands.find(id));
}

function refuseDecision(refusal: DecisionRefusal, operator: string, followed: FollowedOrder | undefined) {
  switch (refusal) {
    case 'order.same_operator': {
      const message = `${operator} proposed this order: another operator must approve it, with a token of their own`;
      return refused('same_operator', message);
    }
    case 'order.expired':
      return refused('expired', 'the proposal is older than seven days: reject it and propose it again');
    case 'order.decided': {
      const status = followed?.order.status ?? 'decided';
      return refused('decided', `the order is ${status} already: propose another to change that`);
    }
    default:
      return unreachable(refusal);
  }
}

const unknown = refused('not_found', 'there is no such order');

type Body = {
  [Kind in OrderKindName]: ServedRequest<(typeof proposalOperations)[Kind]>['body'];
}[OrderKindName];

/** The order in the body; undefined if it lacks the direction that its kind has. */
function requestOf(kind: OrderKind, body: Body, { minor }: Money): OperatorRequest | undefined {
  const target = 'merchantId' in body ? body.merchantId : body.rail;
  const money = { target, currency: body.currency, amount: minor };
  if ('direction' in body) {
    const { direction, reason: why, breakId } = body;
    const correction = { ...money, reason: why, ...(breakId !== undefined && { breakId }) };
    return direction === 'credit' || direction === 'debit'
      ? { kind: 'adjust', ...correction, direction }
      : { kind: 'suspense', ...correction, direction };
  }
  if (kind === 'adjust' || kind === 'suspense') return undefined;
  return { kind, ...money, ...(body.reason !== undefined && { reason: body.reason }) };
}
