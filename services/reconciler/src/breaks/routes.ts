import { commandId, currencyCode, line, wholeNumber } from '@pesewa/contracts';
import { type Clock, parseAmount } from '@pesewa/kernel';
import {
  answerJson,
  formatPageCursor,
  forNamedOperators,
  operatorOf,
  pageCursor,
  readOperatorBody,
  readOperatorQuery,
  refuseOperator,
  refuserOf,
} from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { isBreakCommand } from '../domain/adjustments.ts';
import { breakStatuses } from '../domain/break.ts';
import { isBreakKind } from '../domain/break-kinds.ts';
import type { BreakRequest } from '../domain/break-life.ts';
import { exportFormat, exportHeaders } from '../exports.ts';
import { exportBreaks } from './export.ts';
import type { BreakLife, BreakRefusal } from './life.ts';
import type { BreakQuery } from './store.ts';
import { viewBreak, viewBreakWhole } from './views.ts';

const TEXT_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 240;
const LIMIT = { default: 50, most: 200 } as const;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const filters = z.object({
  reference: z.string().max(120).optional(),
  status: z
    .enum([...breakStatuses, 'unresolved'], {
      error: `status must be one of ${breakStatuses.join(', ')}, unresolved`,
    })
    .optional(),
  kind: z
    .string()
    .refine(isBreakKind, { error: 'kind is no kind of break: the README lists them' })
    .optional(),
  rail: z.string().max(40).optional(),
  currency: z.string().max(3).optional(),
  owner: z.string().max(40).optional(),
  olderThan: z
    .string()
    .regex(/^\d{1,5}[mhd]$/, { error: 'olderThan must be minutes, hours or days, such as 90m, 12h or 7d' })
    .optional(),
});
const listQuery = filters.extend({
  cursor: pageCursor.optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT.most).default(LIMIT.default),
});
const exportQuery = filters.extend({
  format: exportFormat,
});

/** Unknown fields are refused: a mistyped field must not be ignored. */
const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(
    { ...shape, version: wholeNumber.transform(Number).optional() },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `${issue.keys.join(', ')} is no field of this request: your token says who you are`
          : 'the body must be a JSON object',
    },
  );

const said = line(TEXT_LENGTH_MAX);
const breakCommand = commandId.refine(isBreakCommand, { error: 'must begin with bk-' });
const adjustment = fields({
  commandId: breakCommand,
  merchantId: line(64).optional(),
  rail: line(40).optional(),
  currency: z.string().refine((text) => currencyCode(text) === text, { error: 'must be an ISO 4217 code' }),
  amount: z.string({ error: 'must be a decimal text with its sign' }),
  explanation: said,
}).refine((body) => (body.merchantId === undefined) !== (body.rail === undefined), {
  error: 'either merchantId or rail is required, and not both',
});

/** The dependencies of the routes of breaks. */
export interface BreakRouteDeps {
  readonly life: BreakLife;
  /** Whether the shared token, which belongs to no person, may change breaks: only in development. */
  readonly sharedMayOrder: boolean;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Adds the routes of breaks (ADR 31, ADR 60).
 *
 * A break's id contains slashes and colons: in a path it must be percent-encoded as a whole, as by
 * `encodeURIComponent`.
 */
export function addBreakRoutes(operator: Hono, deps: BreakRouteDeps): void {
  const { life, clock } = deps;
  operator.get('/breaks', async (context) => {
    const wanted = readOperatorQuery(context, listQuery);
    if (!wanted.ok) return wanted.refusal;
    const { cursor: after, limit, ...narrowed } = wanted.value;
    const page = await life.list({ ...queryOf(narrowed, clock.nowMs()), after, limit });
    const next = page.next && formatPageCursor(page.next);
    return answerJson(context, 200, { items: page.items.map(viewBreak), next });
  });
  operator.get('/breaks/export', (context) => {
    const wanted = readOperatorQuery(context, exportQuery);
    if (!wanted.ok) return wanted.refusal;
    const { format, ...narrowed } = wanted.value;
    const headers = exportHeaders('breaks', format);
    return new Response(exportBreaks(life, queryOf(narrowed, clock.nowMs()), format), { headers });
  });
  operator.get('/breaks/:id', async (context) => {
    const found = await life.find(idOf(context));
    return found ? answerJson(context, 200, viewBreakWhole(found)) : refuseBreak(context, 'break.unknown');
  });
  addChanges(operator, deps);
}

function addChanges(operator: Hono, { life, sharedMayOrder }: BreakRouteDeps): void {
  operator.post('/breaks/*', forNamedOperators(sharedMayOrder));
  const on = <Schema extends z.ZodType<{ readonly version?: number | undefined }>>(
    verb: string,
    schema: Schema,
    requestOf: (body: z.output<Schema>) => BreakRequest | string,
  ) =>
    operator.post(`/breaks/:id/${verb}`, async (context) => {
      const body = await readOperatorBody(context, schema);
      if (!body.ok) return body.refusal;
      const request = requestOf(body.value);
      if (typeof request === 'string') return refuseOperator(context, 400, 'invalid', request);
      const { version } = body.value;
      const changed = await life.change({ id: idOf(context), request, by: operatorOf(context), version });
      return changed.ok
        ? answerJson(context, 200, viewBreakWhole(changed.value))
        : refuseBreak(context, changed.refusal);
    });
  on('assign', fields({ to: line(40) }), ({ to }) => ({ what: 'assign', to }));
  on('notes', fields({ text: said }), ({ text }) => ({ what: 'note', text }));
  on('explain', fields({ explanation: said }), ({ explanation }) => ({ what: 'explain', explanation }));
  on('resolve', fields({ resolution: said }), ({ resolution }) => ({ what: 'resolve', resolution }));
  on('reopen', fields({ reason: said }), ({ reason }) => ({ what: 'reopen', reason }));
  on('adjustment', adjustment, adjustRequest);
  on('withdraw', fields({ commandId: breakCommand }), ({ commandId: id }) => ({
    what: 'withdraw',
    commandId: id,
  }));
}

/** The request, or what is wrong with its amount. */
function adjustRequest(body: z.output<typeof adjustment>): BreakRequest | string {
  const { commandId: id, merchantId, rail = '', currency, explanation } = body;
  const amount = parseAmount(body.amount.replace(/^[+-]/, ''), currency);
  if (!amount.ok || amount.value.minor <= 0n) {
    return 'amount must be a decimal text that is not zero, with its sign, no finer than the currency allows';
  }
  const minor = body.amount.startsWith('-') ? -amount.value.minor : amount.value.minor;
  const kind = merchantId === undefined ? 'suspense' : 'adjust';
  const terms = { commandId: id, kind, target: merchantId ?? rail, currency, minor } as const;
  return { what: 'adjust', terms, explanation };
}

const refuseKnown = refuserOf<Extract<BreakRefusal, string>>({
  'break.unknown': [404, 'not_found', 'there is no such break'],
  'break.changed': [409, 'changed', 'version: the break has changed since you looked at it: look again'],
  'break.resolved': [409, 'resolved', 'the break is resolved: reopen it, or add a note'],
  'break.unresolved': [409, 'unresolved', 'the break is not resolved'],
  'break.full': [409, 'full', 'the break was changed too often: resolve it'],
  'break.waits_for_end': [
    409,
    'waits',
    'the payment has not ended, and with its end the break closes by itself: explain it, or decide the end of a payout by pesewa decisions outcome',
  ],
  'break.waits_for_decision': [
    409,
    'undecided',
    'the collection waits for the amount that its customer paid: propose it with pesewa decisions propose',
  ],
  'adjustment.pending': [
    409,
    'pending',
    'an adjustment waits for the second operator: approve its order, or reject it and withdraw it here',
  ],
  'adjustment.differs': [409, 'duplicate', 'commandId was used before, for another adjustment'],
  'adjustment.unknown': [409, 'not_pending', 'commandId: no such adjustment of this break is pending'],
  'operator.unknown': [400, 'invalid', 'to: there is no operator of this name'],
});

const rivals = {
  'break.covered': (id) => `${id} reports the same discrepancy and is open: continue there`,
  'adjustment.elsewhere': (id) =>
    `${id} has an adjustment of the same field of this payment already, pending or applied: withdraw it there first, or continue there`,
} as const satisfies Record<Extract<BreakRefusal, object>['why'], (breakId: string) => string>;

function refuseBreak(context: Context, refusal: BreakRefusal): Response {
  return typeof refusal === 'object'
    ? refuseOperator(context, 409, 'elsewhere', rivals[refusal.why](refusal.breakId))
    : refuseKnown(context, refusal);
}

function idOf(context: Context): string {
  return (context.req.param('id') ?? '').slice(0, ID_LENGTH_MAX + 1);
}

function queryOf({ olderThan, ...narrowed }: z.output<typeof filters>, nowMs: number): BreakQuery {
  if (olderThan === undefined) return narrowed;
  const unit = olderThan.at(-1) as keyof typeof UNIT_MS;
  return { ...narrowed, before: new Date(nowMs - Number(olderThan.slice(0, -1)) * UNIT_MS[unit]) };
}
