import { commandId, line, reference } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import {
  answerJson,
  formatPageCursor,
  forNamedOperators,
  operatorOf,
  pageCursor,
  readOperatorBody,
  readOperatorQuery,
  refuserOf,
} from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { breakId } from '../breaks/store.ts';
import {
  DECIDABLE,
  type DecideRefusal,
  type Decision,
  type DecisionRequest,
  decidedOutcomes,
  decisionStatuses,
  expiryMsOf,
  OUTCOME_DECIDABLE,
  type ProposeRefusal,
} from '../domain/decisions.ts';
import type { Decisions } from './decisions.ts';

const DECISIONS_PER_PAGE = 100;
const NOTE_LENGTH_MAX = 200;
const BREAK_ID_LENGTH_MAX = 120;

/** Unknown fields are refused: where money moves, a mistyped field must not be ignored. */
const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.join(', ')} is no field of a decision: your token says who you are`
        : 'the body must be a JSON object',
  });

const proposal = fields({
  breakId: line(BREAK_ID_LENGTH_MAX).optional(),
  reference: reference.optional(),
  amount: z.string({ error: 'must be a decimal text' }).optional(),
  outcome: z.enum(decidedOutcomes, { error: `must be one of ${decidedOutcomes.join(', ')}` }).optional(),
  note: line(NOTE_LENGTH_MAX).optional(),
  commandId: commandId.optional(),
})
  .refine((body) => (body.breakId === undefined) !== (body.reference === undefined), {
    error: 'either breakId or reference is required, and not both',
  })
  .refine((body) => (body.amount === undefined) !== (body.outcome === undefined), {
    error: 'either amount or outcome is required, and not both: amount must be a decimal text',
  })
  .refine((body) => body.outcome === undefined || body.note !== undefined, {
    error: 'note is required with an outcome: how do you know that it ended so?',
  });

type Requested = Omit<z.output<typeof proposal>, 'commandId'>;

const rejection = fields({ reason: line(NOTE_LENGTH_MAX).optional() });

const query = z.object({
  status: z.enum(decisionStatuses).optional(),
  reference: z.string().max(120).optional(),
  cursor: pageCursor.optional(),
});

/** The dependencies of the routes of decisions. */
export interface DecisionRouteDeps {
  readonly decisions: Decisions;
  /** Whether the shared token, which belongs to no person, may propose and decide: only in development. */
  readonly sharedMayOrder: boolean;
}

/** Adds the routes by which two operators decide what a customer paid, or how a payout ended (ADR 23, ADR 34). */
export function addDecisionRoutes(operator: Hono, { decisions, sharedMayOrder }: DecisionRouteDeps): void {
  operator.post('/decisions/*', forNamedOperators(sharedMayOrder));
  operator.get('/decisions', async (context) => {
    const wanted = readOperatorQuery(context, query);
    if (!wanted.ok) return wanted.refusal;
    const { cursor: after, ...narrowed } = wanted.value;
    const page = await decisions.list({ ...narrowed, after, limit: DECISIONS_PER_PAGE });
    const next = page.next && formatPageCursor(page.next);
    return answerJson(context, 200, { items: page.items.map(viewDecision), next });
  });
  operator.get('/decisions/:id', async (context) => {
    const found = await decisions.find(context.req.param('id'));
    return found
      ? answerJson(context, 200, viewDecision(found))
      : refuseDecision(context, 'decision.unknown');
  });
  operator.post('/decisions', async (context) => {
    const body = await readOperatorBody(context, proposal);
    if (!body.ok) return body.refusal;
    const { commandId: under, ...requested } = body.value;
    const proposed = await decisions.propose(requestOf(requested), operatorOf(context), under);
    return proposed.ok
      ? answerJson(context, 202, viewDecision(proposed.value))
      : refuseDecision(context, proposed.refusal);
  });
  operator.post('/decisions/:id/approve', (context) => decide(context, decisions, { verdict: 'approve' }));
  operator.post('/decisions/:id/reject', async (context) => {
    // The reason is optional, and so is the body.
    if (context.req.header('content-type') === undefined) {
      return decide(context, decisions, { verdict: 'reject' });
    }
    const body = await readOperatorBody(context, rejection);
    if (!body.ok) return body.refusal;
    return decide(context, decisions, { verdict: 'reject', reason: body.value.reason });
  });
}

/** The request of a proposal; which fields go together was checked before. */
function requestOf({
  breakId: id,
  reference: of = '',
  amount = '',
  outcome,
  note,
}: Requested): DecisionRequest {
  if (outcome === undefined) return { breakId: id ?? breakId(of, DECIDABLE), amount, note };
  const breakIds = id === undefined ? OUTCOME_DECIDABLE.map((kind) => breakId(of, kind)) : [id];
  return { breakIds, outcome, note: note ?? '' };
}

async function decide(
  context: Context,
  decisions: Pick<Decisions, 'decide'>,
  verdict: { readonly verdict: 'approve' | 'reject'; readonly reason?: string | undefined },
): Promise<Response> {
  const id = context.req.param('id') ?? '';
  const decided = await decisions.decide(id, { ...verdict, by: operatorOf(context) });
  return decided.ok
    ? answerJson(context, 200, viewDecision(decided.value))
    : refuseDecision(context, decided.refusal);
}

const refuseDecision = refuserOf<ProposeRefusal | DecideRefusal>({
  'break.unknown': [404, 'not_found', 'breakId or reference: there is no such break to decide about'],
  'break.undecidable': [
    400,
    'invalid',
    `breakId must be that of a break ${DECIDABLE}, or with an outcome that of a payout: ${OUTCOME_DECIDABLE.join(', ')}`,
  ],
  'break.closed': [409, 'closed', 'breakId: the break is resolved'],
  'payment.ended': [
    409,
    'ended',
    'reference: the payment has ended: what was booked for it is corrected by an order to the ledger',
  ],
  'rail.unconfigured': [
    409,
    'rail_unconfigured',
    'the rail of the payment is not configured here, so its fee is not known',
  ],
  'amount.invalid': [
    400,
    'invalid',
    'amount must be a positive decimal text, no finer than the currency allows',
  ],
  'decision.open': [409, 'undecided', 'breakId: another decision about its payment is not final yet'],
  'decision.differs': [409, 'duplicate', 'commandId was used before for another decision'],
  'decision.unknown': [404, 'not_found', 'there is no such decision'],
  'decision.same_operator': [
    403,
    'same_operator',
    'you proposed it: another operator must approve it, with a token of their own',
  ],
  'decision.expired': [
    409,
    'expired',
    'the proposal is older than seven days: reject it and propose it again',
  ],
  'decision.decided': [409, 'decided', 'the proposal is decided already: propose another to change that'],
});

/** A decision as operators see it: amounts in decimal text, times in UTC. */
function viewDecision(decision: Decision) {
  const { id, breakId: about, reference: of, currency, minor, note, status, requestedBy, at } = decision;
  return {
    id,
    breakId: about,
    reference: of,
    currency,
    amount: formatAmount(minor, currency),
    ...(decision.outcome !== undefined && { outcome: decision.outcome }),
    ...(note !== undefined && { note }),
    status,
    requestedBy,
    requestedAt: at.toISOString(),
    ...viewOutcome(decision),
  };
}

function viewOutcome(decision: Decision) {
  if (decision.status === 'proposed') return { expiresAt: new Date(expiryMsOf(decision)).toISOString() };
  const { decidedBy, decidedAt } = decision;
  if (decision.status === 'rejected') {
    const { reason } = decision;
    return {
      rejectedBy: decidedBy,
      rejectedAt: decidedAt.toISOString(),
      ...(reason !== undefined && { rejectedFor: reason }),
    };
  }
  return {
    approvedBy: decidedBy,
    approvedAt: decidedAt.toISOString(),
    railFee: formatAmount(decision.railFee, decision.currency),
    ...(decision.status === 'applied' && { appliedAt: decision.appliedAt.toISOString() }),
  };
}

/** The lines of a payment's timeline about its decisions. */
export function timelineOf(
  decisions: readonly Decision[],
): readonly { readonly at: Date; readonly detail: string }[] {
  return decisions.flatMap((decision) => {
    const money = `${formatAmount(decision.minor, decision.currency)} ${decision.currency}`;
    const what = decision.outcome ?? money;
    const lines = [{ at: decision.at, detail: `${what} proposed by ${decision.requestedBy}` }];
    if (decision.status === 'proposed') return lines;
    const verdict = decision.status === 'rejected' ? 'rejected' : 'approved';
    lines.push({ at: decision.decidedAt, detail: `${what} ${verdict} by ${decision.decidedBy}` });
    if (decision.status === 'applied') lines.push({ at: decision.appliedAt, detail: `${what} applied` });
    return lines;
  });
}
