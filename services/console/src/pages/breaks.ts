import {
  type BreakView,
  breakChanges,
  breakOperations,
  breakStatuses,
  statusOperations,
} from '@pesewa/contracts';
import { ClientError, inWords, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, askAgain, type Change } from '../view/change.ts';
import { choiceField } from '../view/form.ts';
import { dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { listOf } from '../view/list.ts';
import { type Columns, tableOf, tabs } from '../view/table.ts';
import { age, amount, state, type TimeView, these, words } from '../view/values.ts';
import type { Given, Routes, Submission, Visit } from '../visits.ts';

const PAGE_SIZE = 50;
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
  for (const act of ['assign', 'explain'] as const)
    addChange(
      routes,
      `/breaks/bulk/${act}`,
      (visit, given) => askAboutPicked(visit, given, act),
      (submission) => changePicked(submission, act),
    );
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
      choiceField(['kind', 'Kind'], await kindsOf(visit), query('kind'), 'any'),
      choiceField(['status', 'Status'], statuses, status),
      ...texts.map(([name, label]) => ({ name, label, value: query(name), maxLength: 120 })),
    ],
    read: (cursor) =>
      upstream.call('reconciler', breakOperations.list, {
        query: { ...narrowedBy(query), cursor, limit: PAGE_SIZE },
      }),
    columns: [
      visit.may('operator') && [
        'Choose',
        ({ id }, index) =>
          html`<input type="checkbox" name="break-${index}" value="${id}" aria-label="Choose ${id}">`,
      ],
      ...columnsOf(times),
    ],
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

const columnsOf = (times: TimeView): Columns<BreakView> => [
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

/** The breaks that were chosen on a page, with their versions if they were shown. */
const pickedOf = (given: Given) =>
  Array.from({ length: PAGE_SIZE }, (_, index) => ({
    id: given(`break-${index}`) ?? '',
    version: given(`version-${index}`),
  })).filter(({ id }) => id !== '');

const bulk = {
  assign: { does: 'Assign', field: 'operator', label: 'Operator' },
  explain: { does: 'Explain', field: 'explanation', label: 'Why they differ' },
} as const;

async function askAboutPicked(visit: Visit, given: Given, act: keyof typeof bulk): Promise<Change> {
  const found = await Promise.all(
    pickedOf(given).map(({ id }) =>
      visit.upstream.call('reconciler', breakOperations.show, { parameters: { id } }),
    ),
  );
  const { does, field, label } = bulk[act];
  const empty = html`No break is chosen: ${link('/breaks', 'choose some in the queue')}.`;
  const versions = found.flatMap(({ id, version }, index): [string, string][] => [
    [`break-${index}`, id],
    [`version-${index}`, String(version)],
  ]);
  return {
    title: `${does} several breaks at once`,
    about: tableOf('The chosen breaks as they stand now', found, columnsOf(visit.times), empty),
    role: 'operator',
    fields: [{ name: field, label, value: given(field), isRequired: true, maxLength: 500 }],
    hidden: Object.fromEntries(versions),
    submit: found.length === 0 ? undefined : `${does} ${these(found.length, 'break')}`,
    back: ['/breaks', 'Back to the queue'],
  };
}

/** Changes each of the chosen breaks by itself: one that fails stops no other, and hides no other's outcome. */
async function changePicked(submission: Submission, act: keyof typeof bulk): Promise<Page> {
  const { upstream, field } = submission;
  const { does, field: name } = bulk[act];
  const written = field(name) ?? '';
  const outcomes = await Promise.all(
    pickedOf(field).map(async ({ id, version }) => {
      const body = { [name]: written, version: Number(version) } as never;
      const change = upstream.call('reconciler', breakChanges[act], { parameters: { id }, body });
      const why = await change.then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof ClientError) return messageOf(error);
          throw error;
        },
      );
      return { id, why };
    }),
  );
  const failed = outcomes.filter(({ why }) => why !== undefined);
  const again = Object.fromEntries(failed.map(({ id }, index) => [`break-${index}`, id]));
  const shown = tableOf(
    'What became of each',
    outcomes,
    [
      ['Break', ({ id }) => linkTo('break', id)],
      ['Outcome', ({ why }) => state(why === undefined ? 'done' : 'failed')],
      ['Why', ({ why }) => words(why, submission.times)],
    ],
    'No break was chosen.',
  );
  const body = html`${shown}${failed.length === 0 ? nothing : askAgain(submission, { ...again, [name]: written }, `Look at the ${failed.length} that failed`)}<p>${link('/breaks', 'Back to the queue')}</p>`;
  return { title: `${does}: ${outcomes.length - failed.length} of ${outcomes.length} done`, body };
}
