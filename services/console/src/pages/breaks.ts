import {
  type BreakView,
  breakChanges,
  breakOperations,
  breakStatuses,
  statusOperations,
} from '@pesewa/contracts';
import { inWords, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, form, filters as narrowing } from '../view/form.ts';
import { type Content, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { pager, table } from '../view/table.ts';
import { age, amount, state } from '../view/values.ts';
import { part, type Routes, type Submission, type Visit } from '../visits.ts';
import { walletPath } from './today.ts';

const PAGE_SIZE = 50;
const statuses = ['unresolved', ...breakStatuses] as const;
const narrowed = ['kind', 'owner', 'rail', 'currency', 'reference', 'olderThan'] as const;

/** Where a break is shown. */
export const breakPath = (id: string): string => pathOf(['breaks', id]);

/** Where the payment or the wallet of a break is shown. */
export function subjectPath({ id, reference }: Pick<BreakView, 'id' | 'reference'>): string {
  if (id.endsWith('/balance')) return walletPath(reference);
  if (id.endsWith('/position')) return '/webhooks/parked';
  const isPayment = /^(?:po|co)-/.test(reference);
  return isPayment ? pathOf(['payments', reference]) : pathOf(['breaks'], { reference, status: 'any' });
}

/** Adds the queue of breaks, and what is done with several of them at once. */
export function addBreakPages(routes: Routes): void {
  routes.page('/breaks', showQueue);
  routes.page('/breaks/bulk', (visit) => showPicked(visit, pickedOf(visit.query)));
  routes.form('/breaks/bulk', changePicked);
}

async function showQueue(visit: Visit): Promise<Page> {
  const { query, operator } = visit;
  const [kinds, found] = await Promise.all([kindsOf(visit), part(listBreaks(visit))]);
  const views = [
    ['Unresolved', pathOf(['breaks'])],
    ['Mine', pathOf(['breaks'], { owner: operator.name })],
    ['Nobody has them', pathOf(['breaks'], { status: 'open' })],
    ['Older than a day', pathOf(['breaks'], { olderThan: '1d' })],
    ['Resolved', pathOf(['breaks'], { status: 'resolved' })],
  ] as const;
  const text = (name: string, label: string) => ({ name, label, value: query(name), maxLength: 120 });
  const fields = [
    choiceField(['kind', 'Kind'], kinds, query('kind'), 'any'),
    choiceField(['status', 'Status'], [...statuses, 'any'], statusOf(visit)),
    text('owner', 'Owner'),
    text('rail', 'Rail'),
    text('currency', 'Currency'),
    text('reference', 'Payment or wallet'),
    { ...text('olderThan', 'Older than'), hint: 'such as 90m, 12h or 7d' },
  ] as const;
  const body = html`<nav class="tabs" aria-label="Views">${views.map(([title, path]) => link(path, title))}</nav>
${narrowing({ action: '/breaks', label: 'Breaks', fields })}${found}`;
  return { title: 'Breaks', body };
}

const statusOf = ({ query }: Visit): (typeof statuses)[number] | 'any' =>
  [...statuses, 'any' as const].find((one) => one === query('status')) ?? 'unresolved';

/** The kinds of unresolved breaks, and the one that is asked for. */
async function kindsOf({ upstream, query }: Visit): Promise<readonly string[]> {
  const { breaks } = await upstream
    .call('reconciler', statusOperations.show, {})
    .catch(() => ({ breaks: null }));
  return [...new Set([...(breaks ?? []).map(({ kind }) => kind), query('kind') ?? []].flat())].toSorted();
}

async function listBreaks(visit: Visit): Promise<Html> {
  const { upstream, query, may, times } = visit;
  const asked = Object.fromEntries(narrowed.map((name) => [name, query(name)]));
  const status = statusOf(visit);
  const { items, next } = await upstream.call('reconciler', breakOperations.list, {
    query: {
      ...asked,
      currency: query('currency')?.toUpperCase(),
      status: status === 'any' ? undefined : status,
      cursor: query('cursor'),
      limit: PAGE_SIZE,
    },
  });
  const isNarrowed = narrowed.some((name) => query(name) !== undefined) || status !== 'unresolved';
  const mayChange = may('operator') && items.length > 0;
  const rows = items.map((one, index) => [
    ...(mayChange
      ? [html`<input type="checkbox" name="break-${index}" value="${one.id}" aria-label="Choose ${one.id}">`]
      : []),
    ...cellsOf(one),
    age(one.since, times),
    foreign(one.detail),
  ]);
  const list = table({
    caption: 'Breaks, the newest first',
    columns: [...(mayChange ? ['Choose'] : []), ...columns, 'Open for', 'What differs'],
    rows,
    empty: isNarrowed
      ? html`No break matches. ${link('/breaks', 'Clear the filters')}`
      : html`No break is open: wherever a rail, our books and our records differ, it stands here. ${link('/reconciliation', 'When each was last compared')}`,
  });
  const pages = pager({
    next,
    isFirst: query('cursor') === undefined,
    pathAfter: (cursor) => pathOf(['breaks'], { ...asked, status: query('status'), cursor }),
  });
  const chosen = mayChange
    ? html`<button type="submit">Assign or explain the chosen breaks …</button>`
    : nothing;
  return html`<form method="get" action="/breaks/bulk">${list}${chosen}</form>${pages}`;
}

const columns = ['Break', 'About', { title: 'Amount', isNumber: true }, 'Rail', 'Status', 'Owner'] as const;

function cellsOf(one: BreakView): readonly Content[] {
  const { id, kind, reference, rail, currency, owner } = one;
  return [
    link(breakPath(id), inWords(kind)),
    link(subjectPath(one), foreign(reference)),
    amount(one.amount, currency, breakPath(id)),
    rail === null ? foreign(rail) : link(pathOf(['rails', rail]), rail),
    state(one.status),
    owner === null ? foreign(owner) : link(pathOf(['breaks'], { owner }), foreign(owner)),
  ];
}

interface Picked {
  readonly id: string;
  /** As it was seen; absent before it is shown. */
  readonly version?: string | undefined;
  /** What became of the change. */
  readonly outcome?: string;
}

/** The breaks that were chosen on a page, by their ids. */
function pickedOf(read: (name: string) => string | undefined): readonly Picked[] {
  return Array.from({ length: PAGE_SIZE }, (_, index) => ({
    id: read(`break-${index}`) ?? '',
    version: read(`version-${index}`),
  })).filter(({ id }) => id !== '');
}

const bulk = {
  assign: { label: 'Operator', body: (operator: string) => ({ operator }) },
  explain: { label: 'Why they differ', body: (explanation: string) => ({ explanation }) },
} as const;

async function showPicked(visit: Visit, picked: readonly Picked[], written?: Submission): Promise<Page> {
  const { upstream, csrf, may, times, query } = visit;
  const found = await Promise.all(
    picked.map(({ id }) => upstream.call('reconciler', breakOperations.show, { parameters: { id } })),
  );
  const hidden = Object.fromEntries(
    found.flatMap(({ id, version }, index) => [
      [`break-${index}`, id],
      [`version-${index}`, String(version)],
    ]),
  );
  const list = table({
    caption: 'The chosen breaks as they stand now',
    columns: [...columns, 'Explanation', 'Open for', ...(written ? ['What became of it'] : [])],
    rows: found.map((one, index) => [
      ...cellsOf(one),
      foreign(one.explanation),
      age(one.since, times),
      ...(written ? [foreign(picked[index]?.outcome)] : []),
    ]),
    empty: html`No break is chosen: ${link('/breaks', 'choose some in the queue')}.`,
  });
  const forms = (['assign', 'explain'] as const).map((act) => {
    const value = written?.field('act') === act ? written.field('text') : undefined;
    const field = { name: 'text', label: bulk[act].label, isRequired: true, maxLength: 500, value } as const;
    const submit = `${act === 'assign' ? 'Assign' : 'Explain'} these ${found.length} breaks`;
    const given = { csrf, action: '/breaks/bulk', fields: [field], hidden: { ...hidden, act }, submit };
    return html`<section>${form(given)}</section>`;
  });
  const done =
    query('done') === undefined ? nothing : html`<p class="done" role="status">Done for all of them.</p>`;
  const body = html`${done}${section(`${found.length} breaks`, list)}${may('operator') && found.length > 0 ? forms : nothing}`;
  return { title: 'Several breaks at once', body };
}

/** Changes each of the chosen breaks by itself: one that is refused stops no other. */
async function changePicked(submission: Submission) {
  const { upstream, field } = submission;
  const picked = pickedOf(field);
  const act = field('act') === 'assign' ? 'assign' : 'explain';
  const outcomes = await Promise.all(
    picked.map(async ({ id, version }): Promise<Picked> => {
      const body = { ...bulk[act].body(field('text') ?? ''), version: Number(version) };
      try {
        await upstream.call('reconciler', breakChanges[act], { parameters: { id }, body: body as never });
        return { id, outcome: 'done' };
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        return { id, outcome: `not done: ${messageOf(error)}` };
      }
    }),
  );
  const query = Object.fromEntries(picked.map(({ id }, index) => [`break-${index}`, id]));
  if (outcomes.every(({ outcome }) => outcome === 'done'))
    return { goTo: pathOf(['breaks', 'bulk'], { ...query, done: act }) };
  return { again: await showPicked(submission, outcomes, submission), status: 409 } as const;
}
