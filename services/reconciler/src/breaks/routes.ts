import {
  type BreakFilters,
  type BreakSidesView,
  type BreakView,
  breakChanges,
  breakColumns,
  breakOperations,
  formatPageCursor,
} from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { answer, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Decisions } from '../decisions/decisions.ts';
import type { Break } from '../domain/break.ts';
import { breakKinds, isBreakKind } from '../domain/break-kinds.ts';
import type { BreakRequest } from '../domain/break-life.ts';
import { answerFile, exportItems } from '../exports.ts';
import type { ChangeBreak } from './life.ts';
import { type BreakQuery, type BreakStore, pagesOfBreaks } from './store.ts';
import { viewBreak, viewWholeBreak } from './views.ts';

const BREAKS_PER_PAGE = 500;
const DECISIONS_MAX = 200;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The dependencies of the routes of breaks. */
export interface BreakRouteDeps {
  readonly breaks: Pick<BreakStore, 'findAll' | 'list'>;
  readonly changeBreak: ChangeBreak;
  readonly sidesOf: (found: Break) => Promise<BreakSidesView>;
  readonly decisions: Pick<Decisions, 'list'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/**
 * Adds the routes of breaks (ADR 70).
 *
 * A break's id contains slashes and colons: in a path it must be percent-encoded as a whole, as by
 * `encodeURIComponent`.
 */
export function addBreakRoutes(operator: Hono, deps: BreakRouteDeps): void {
  const { breaks, sidesOf, decisions, clock } = deps;
  serveOperations(operator, breakOperations, {
    list: async ({ query: { cursor: after, limit, ...filters } }) => {
      const narrowed = queryOf(filters, clock.nowMs());
      if (!narrowed.ok) return refused('invalid', narrowed.refusal);
      const page = await breaks.list({ ...narrowed.value, after, limit });
      return answer(200, {
        items: page.items.map(viewBreak),
        next: page.next && formatPageCursor(page.next),
      });
    },
    export: ({ query: { format, ...filters } }) => {
      const narrowed = queryOf(filters, clock.nowMs());
      if (!narrowed.ok) return refused('invalid', narrowed.refusal);
      const items = breaksOf(breaks, narrowed.value);
      return answerFile('breaks', format, exportItems({ items, viewOf: viewBreak, columns }, format));
    },
    show: async ({ parameters: { id } }) => {
      const [found] = await breaks.findAll([id]);
      if (!found) return unknown;
      const { items } = await decisions.list({ reference: found.reference, limit: DECISIONS_MAX });
      return answer(200, viewWholeBreak(found, await sidesOf(found), items));
    },
  });
  addChanges(operator, deps);
}

const columns = Object.fromEntries(breakColumns.map((column) => [column, (view: BreakView) => view[column]]));

/** All breaks of a query, each exactly once; those that open meanwhile are not among them. */
async function* breaksOf(breaks: Pick<BreakStore, 'list'>, query: BreakQuery): AsyncGenerator<Break> {
  for await (const page of pagesOfBreaks(breaks, { ...query, limit: BREAKS_PER_PAGE })) yield* page;
}

interface ChangeRequest<Body> {
  readonly parameters: { readonly id: string };
  readonly body: Body;
  readonly operator: string;
}

function addChanges(operator: Hono, { changeBreak }: BreakRouteDeps): void {
  const by =
    <Body extends { readonly version?: number | undefined }>(requestOf: (body: Body) => BreakRequest) =>
    async ({ parameters: { id }, body, operator: name }: ChangeRequest<Body>) => {
      const changed = await changeBreak({ id, request: requestOf(body), by: name, version: body.version });
      return changed.ok ? answer(200, viewBreak(changed.value)) : refuseBreak(changed.refusal);
    };
  serveOperations(operator, breakChanges, {
    assign: by(({ operator }) => ({ what: 'assign', text: operator })),
    notes: by(({ text }) => ({ what: 'note', text })),
    explain: by(({ explanation }) => ({ what: 'explain', text: explanation })),
    resolve: by(({ resolution: text = '', approves }) =>
      approves === undefined ? { what: 'resolve', text } : { what: 'approve', approves },
    ),
    reject: by(({ reason }) => ({ what: 'reject', text: reason })),
    reopen: by(({ reason }) => ({ what: 'reopen', text: reason })),
  });
}

const unknown = refused('not_found', 'there is no such break');

const refuseBreak = refusalsAs({
  'break.unknown': ['not_found', unknown.message],
  'break.changed': ['changed', 'version: the break has changed since you looked at it: look again'],
  'break.resolved': ['resolved', 'the break is resolved: reopen it, or add a note'],
  'break.unresolved': ['unresolved', 'the break is not resolved'],
  'break.full': ['full', 'the break was changed too often: resolve it'],
  'break.waits_for_end': [
    'waits',
    'the payment has not ended, and with its end the break closes by itself: explain it, or decide the end of a payout (pesewa decisions outcome --help)',
  ],
  'break.waits_for_decision': [
    'undecided',
    'the collection waits for the amount that its customer paid: propose it (pesewa decisions propose --help)',
  ],
  'resolution.proposed_already': [
    'proposed_already',
    'another operator has resolved it, and it is of so much money that an approver must approve that: look again',
  ],
  'resolution.not_proposed': ['not_proposed', 'no such resolution waits for an approval: look again'],
  'resolution.same_operator': [
    'same_operator',
    'approves: you proposed to resolve it: another operator must approve that',
  ],
  'operator.unknown': ['invalid', 'operator: there is none of this name: OPERATORS has their names'],
});

function queryOf({ olderThan, ...narrowed }: BreakFilters, nowMs: number): Result<BreakQuery, string> {
  if (narrowed.kind !== undefined && !isBreakKind(narrowed.kind))
    return refuse(
      `kind: there is no kind ${narrowed.kind}: write one of ${Object.keys(breakKinds).join(', ')}`,
    );
  if (olderThan === undefined) return accept(narrowed);
  const unit = olderThan.at(-1) as keyof typeof UNIT_MS;
  return accept({ ...narrowed, before: new Date(nowMs - Number(olderThan.slice(0, -1)) * UNIT_MS[unit]) });
}
