import {
  type BreakView,
  breakChanges,
  breakOperations,
  breakStatuses,
  statusOperations,
} from '@pesewa/contracts';
import { ClientError, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addBulk, chooseColumn } from '../view/bulk.ts';
import { choiceField } from '../view/form.ts';
import { dash, foreign, type Html, link, pathOf } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, listOf, tabs } from '../view/table.ts';
import { age, amount, state, type TimeView, words } from '../view/values.ts';
import type { Given, Routes, Visit } from '../visits.ts';

const PAGE_SIZE = 50;
const bulk = [
  ['assign', 'Assign', 'operator', 'Operator'],
  ['explain', 'Explain', 'explanation', 'Why they differ'],
] as const;
const statuses = ['unresolved', ...breakStatuses, 'any'] as const;
const texts = [
  ['owner', 'Owner'],
  ['rail', 'Rail'],
  ['currency', 'Currency'],
  ['reference', 'Payment or wallet'],
  ['olderThan', 'Older than (90m, 12h or 7d)'],
] as const;

/** Where the payment or the wallet of a break is shown. */
export function subjectPath({ id, kind, reference }: Pick<BreakView, 'id' | 'kind' | 'reference'>): string {
  if (id.endsWith('/balance')) return pathToWallet(reference);
  const isPayment = /^(?:po|co)-/.test(reference);
  // What a statement names and we do not have is no payment of ours, whatever it is called.
  return isPayment && kind !== 'statement.not_in_books'
    ? pathTo('payment', reference)
    : pathOf(['breaks'], { reference, status: 'any' });
}

/** Adds the queue of breaks, and what is done with several of them at once. */
export function addBreakPages(routes: Routes): void {
  routes.page('/breaks', showQueue);
  routes.download('/breaks/export', ({ upstream, query }) =>
    upstream.fetch('reconciler', breakOperations.export, { query: narrowedBy(query) }),
  );
  for (const [act, does, name, label] of bulk)
    addBulk(routes, `/breaks/bulk/${act}`, {
      subject: 'break',
      noun: 'break',
      does: (which) => `${does} ${which}`,
      field: { name, label, isRequired: true, maxLength: 500 },
      read: ({ upstream }, id) => upstream.call('reconciler', breakOperations.show, { parameters: { id } }),
      columns: ({ times }) => breakColumns(times),
      act: ({ upstream, field }, id, version) => {
        const body = { [name]: field(name) ?? '', version } as never;
        return upstream.call('reconciler', breakChanges[act], { parameters: { id }, body });
      },
      list: '/breaks',
    });
}

const statusOf = (query: Given) => statuses.find((one) => one === query('status')) ?? 'unresolved';

/** What an address narrows the queue to. */
function narrowedBy(query: Given) {
  const status = statusOf(query);
  const asked = ['kind', ...texts.map(([name]) => name)].map((name) => [name, query(name)] as const);
  const currency = query('currency')?.toUpperCase();
  return { ...Object.fromEntries(asked), currency, ...(status !== 'any' && { status }) };
}

async function showQueue(visit: Visit): Promise<Page> {
  const { query, operator, upstream, times } = visit;
  const views = [
    ['Unresolved', {}],
    ['Mine', { owner: operator.name }],
    ['Nobody has them', { status: 'open' }],
    ['Older than a day', { olderThan: '1d' }],
    ['Resolved', { status: 'resolved' }],
  ] as const;
  const status = statusOf(query);
  const list = await listOf(visit, {
    path: ['breaks'],
    caption: 'Breaks, the newest first',
    fields: [
      choiceField('kind', 'Kind', await kindsOf(visit), 'any'),
      choiceField('status', 'Status', statuses),
      ...texts.map(([name, label]) => ({ name, label, maxLength: 120 })),
    ],
    read: (cursor) =>
      upstream.call('reconciler', breakOperations.list, {
        query: { ...narrowedBy(query), cursor, limit: PAGE_SIZE },
      }),
    columns: [visit.may('operator') && chooseColumn, ...breakColumns(times)],
    empty: html`No break is open: wherever a rail, our books and our records differ, it stands here. ${link('/reconciliation', 'When each was last compared')}`,
    around: (table, items) => (visit.may('operator') && items.length > 0 ? choosing(table) : table),
  });
  const asCsv = pathOf(['breaks', 'export'], { ...narrowedBy(query), status });
  const links = views.map(([title, given]) => [pathOf(['breaks'], given), title] as const);
  return {
    title: 'Breaks',
    body: html`${tabs('Views', links)}${list}<p>${link(asCsv, 'Download these as CSV')}</p>`,
  };
}

const choosing = (table: Html): Html =>
  html`<form method="get" action="/breaks/bulk/explain">${table}<button type="submit">Explain the chosen breaks …</button> <button type="submit" formaction="/breaks/bulk/assign">Assign the chosen breaks …</button></form>`;

/** The kinds of unresolved breaks, and the one that is asked for. */
async function kindsOf({ upstream, query }: Visit): Promise<readonly string[]> {
  const { breaks } = await upstream.call('reconciler', statusOperations.show, {}).catch((error: unknown) => {
    // The list says which service is silent.
    if (error instanceof ClientError && !(error instanceof RefusedError)) return { breaks: null };
    throw error;
  });
  return [...new Set([...(breaks ?? []).map(({ kind }) => kind), query('kind') ?? []].flat())].toSorted();
}

/** The columns of breaks. */
export const breakColumns = (times: TimeView): Columns<BreakView> => [
  ['Break', ({ id, kind }) => linkTo('break', id, inWords(kind))],
  ['About', (one) => link(subjectPath(one), foreign(one.reference))],
  ['Amount', ({ id, amount: sum, currency }) => amount(sum, currency, pathTo('break', id)), 'number'],
  ['Rail', ({ rail }) => linkTo('rail', rail)],
  ['Status', ({ status }) => state(status)],
  ['Owner', ({ owner }) => (owner === null ? dash : link(pathOf(['breaks'], { owner }), foreign(owner)))],
  ['Open for', ({ since }) => age(since, times)],
  ['What differs', ({ detail }) => words(detail, times)],
  ['Explanation', ({ explanation }) => words(explanation, times)],
];
