import { z } from 'zod';
import { seenLine } from '../text.ts';
import { exportFormat, onlyIfTrue, pageCursor, pageLimit, pageOf, smallNumber, textUpTo } from './lists.ts';
import { approvesField, declareOperations, fileAnswer, strictFields } from './operation.ts';
import { OPERATOR_LENGTH_MAX } from './roles.ts';

const TEXT_LENGTH_MAX = 500;

/** The id of a break in the body or the query of another request. */
export const breakIdText = seenLine(200);

/** The statuses of breaks, in the order in which a break passes through them. */
export const breakStatuses = ['open', 'assigned', 'explained', 'resolved'] as const;

const nullable = z.string().nullable();

const breakRow = z.object({
  id: z.string(),
  kind: z.string(),
  reference: z.string(),
  rail: nullable,
  status: z.enum(breakStatuses),
  currency: nullable,
  /** Signed. */
  amount: nullable,
  detail: z.string(),
  owner: nullable,
  explanation: nullable,
  openedAt: z.string(),
  /** When it was opened, or last reopened. */
  since: z.string(),
  resolvedAt: nullable,
  resolution: nullable,
  resolvedBy: nullable,
  version: z.number(),
});

const breakView = breakRow
  .extend({
    /** The resolution that an approver must approve, because it is of so much money. */
    proposedResolution: z.object({ by: z.string(), at: z.string(), resolution: z.string() }).optional(),
  })
  .meta({ id: 'Break' });

const sidesView = z.object({
  /** Decimal text of an amount, a fee or a balance; of any other field the status. Null if it is not known. */
  ours: nullable,
  theirs: nullable,
  /** The lines of statements that say so, with the rail's own word for the status. */
  lines: z.array(
    z.object({
      statement: z.string(),
      line: z.number().nullable(),
      receipt: nullable,
      reference: z.string().optional(),
      statusWord: z.string().optional(),
    }),
  ),
  /** By how much our float would change if the rail is right, signed; null if that is not known. */
  floatChange: nullable,
  /** What must come before an order may correct the difference: it may book the same. */
  waitsFor: z.enum(['end', 'decision']).nullable(),
});

const shownBreakView = breakView
  .extend({
    /** What each observer says of its field, the first first; of a resolved break those with which it was resolved. */
    observations: z.array(
      z.object({
        observer: z.string(),
        kind: z.string(),
        amount: nullable,
        detail: z.string(),
        at: z.string(),
      }),
    ),
    /** The orders to the ledger that were booked for it, by their ids. */
    corrections: z.array(z.string()),
    history: z.array(
      z.object({ at: z.string(), by: nullable, what: z.string(), text: nullable, amount: nullable }),
    ),
    ...sidesView.shape,
  })
  .meta({ id: 'ShownBreak' });

/** The fields of a listed break, which are the columns of an export, in order. */
export const breakColumns = breakRow.keyof().options;

/** A break in lists: amounts in signed decimal text, times in UTC. */
export type BreakView = z.output<typeof breakView>;

/** What both sides have of a break's field, and where that was found. */
export type BreakSidesView = z.output<typeof sidesView>;

/** A break as it is shown, with its history and what both sides have. */
export type ShownBreakView = z.output<typeof shownBreakView>;

const filters = z.object({
  reference: textUpTo(120)
    .optional()
    .describe('only those of one payment, by our transactionReference, or of one wallet'),
  status: z
    .enum([...breakStatuses, 'unresolved'], {
      error: `must be one of ${breakStatuses.join(', ')}, unresolved`,
    })
    .optional()
    .describe('only those with this status'),
  /** Of which an observation is among theirs. */
  kind: z.string().optional().describe('only those of a kind, such as wallet.drift'),
  rail: textUpTo(40).optional().describe('only those of a rail'),
  currency: textUpTo(3).optional().describe('only those in a currency'),
  owner: textUpTo(40).optional().describe('only those that an operator has'),
  waitsForApproval: onlyIfTrue.describe('only those whose resolution an approver must approve'),
  olderThan: z
    .string()
    .regex(/^\d{1,5}[mhd]$/, { error: 'must be minutes, hours or days, such as 90m, 12h or 7d' })
    .optional()
    .describe('only those opened longer ago than minutes, hours or days, such as 90m, 12h or 7d'),
});

/** Which breaks are listed; each field narrows the list. */
export type BreakFilters = z.output<typeof filters>;

const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
  strictFields(
    { version: smallNumber.optional(), ...shape },
    (names) => `${names.join(', ')} is no field of this request: your token says who you are`,
  );

const said = (what: string) =>
  seenLine(TEXT_LENGTH_MAX).describe(`${what}, in one line of at most ${TEXT_LENGTH_MAX} characters`);
const change = <const Verb extends string, Body extends z.ZodType>(verb: Verb, summary: string, body: Body) =>
  ({
    method: 'post',
    path: `/breaks/{id}/${verb}`,
    summary,
    body,
    answers: { 200: breakView },
    refusals: {
      invalid: 400,
      not_found: 404,
      changed: 409,
      resolved: 409,
      unresolved: 409,
      full: 409,
      waits: 409,
      undecided: 409,
      proposed_already: 409,
      not_proposed: 409,
      same_operator: 403,
    },
  }) as const;

const resolution = fields({ resolution: said('what became of it').optional(), approves: approvesField })
  .refine(({ resolution: proposed, approves }) => (proposed === undefined) !== (approves === undefined), {
    error: 'either resolution or approves is required, and not both: approves takes what was proposed',
  })
  .refine(({ approves, version }) => approves === undefined || version !== undefined, {
    error: 'version is required with approves: it says which proposal you saw',
  });

/** The discrepancies that wait for people, or for their cause to go away (ADR 70). */
export const breakOperations = declareOperations({
  list: {
    method: 'get',
    path: '/breaks',
    summary: 'Lists breaks by first opening, newest first',
    query: filters.extend({ cursor: pageCursor.optional(), limit: pageLimit(200, 50) }),
    answers: { 200: pageOf(breakView) },
    refusals: { invalid: 400 },
    pages: 'cursor',
  },
  export: {
    method: 'get',
    path: '/breaks/export',
    summary: 'Streams the same breaks as CSV or JSON',
    query: filters.extend({ format: exportFormat }),
    answers: { 200: fileAnswer },
    refusals: { invalid: 400 },
  },
  show: {
    method: 'get',
    path: '/breaks/{id}',
    summary: 'Shows a break: both sides, who says so, corrections and history',
    answers: { 200: shownBreakView },
    refusals: { not_found: 404 },
  },
});

/** What people do with a break, in their own name; `version` refuses a change to one that has changed meanwhile. */
export const breakChanges = declareOperations({
  assign: change(
    'assign',
    'Assigns a break to an operator',
    fields({ operator: seenLine(OPERATOR_LENGTH_MAX).describe('a name of OPERATORS') }),
  ),
  notes: change('notes', 'Adds a note to a break', fields({ text: said('what is known') })),
  explain: change('explain', 'Explains a break', fields({ explanation: said('why it differs') })),
  resolve: {
    ...change('resolve', 'Resolves a break; with `approves`, as that operator proposed', resolution),
    caller: 'secondIfApproves',
  },
  reject: change(
    'resolve/reject',
    'Rejects a proposed resolution',
    fields({ reason: said('why not'), version: smallNumber }),
  ),
  reopen: change(
    'reopen',
    'Reopens a resolved break, with its history',
    fields({ reason: said('why it is open after all') }),
  ),
});
