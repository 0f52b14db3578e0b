import {
  type ClosePreviewView,
  type CloseRecordView,
  type CloseRequest,
  type CloseView,
  closeOperations,
  closeResults,
  comparisonOperations,
  dryRunOf,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { CLOSE_MATCHES, dayAt, inWords, messageOf, RefusedError, startOfDay } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters, form, problemOf } from '../view/form.ts';
import { type Content, copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, table } from '../view/table.ts';
import { count, lengthText, state, type TimeView, time } from '../view/values.ts';
import { doOrShowAgain, part, type Routes, type Visit } from '../visits.ts';
import {
  breakLinks,
  daysOf,
  formFor,
  numbers,
  oneOf,
  periodText,
  railOptions,
  recordSection,
  resultLinks,
  side,
} from './match-runs.ts';

const HOME = '/reconciliation/closes';

/** Adds the pages of daily closes: the list with the form to make one, and each with its records. */
export function addClosePages(routes: Routes): void {
  routes.page(HOME, (visit) => showList(visit, visit.query));
  routes.form(HOME, async (submission) =>
    doOrShowAgain(
      async () => {
        const body = windowOf(submission.field, submission.times);
        return pathOf([
          'reconciliation',
          'closes',
          (await submission.upstream.call('reconciler', closeOperations.open, { body })).id,
        ]);
      },
      (problem) => showList(submission, submission.field, problem),
    ),
  );
  routes.page(`${HOME}/:id`, showOne);
  routes.download(`${HOME}/:id/export`, (visit) =>
    visit.upstream.fetch('reconciler', closeOperations.export, {
      parameters: { id: visit.part('id') },
      query: { result: oneOf(closeResults, visit.query('result')) },
    }),
  );
}

type Asked = (name: 'from' | 'to' | 'rail') => string | undefined;

function windowOf(asked: Asked, times: TimeView): CloseRequest {
  const [from, rail] = [asked('from'), asked('rail')];
  return { ...daysOf(from, asked('to') ?? from, times), ...(rail !== undefined && { rail }) };
}

async function showList(visit: Visit, asked: Asked, problem?: string): Promise<Page> {
  const { call } = visit.upstream;
  const cursor = visit.query('cursor');
  const [closes, making] = await Promise.all([
    part(
      call('reconciler', closeOperations.list, { query: { cursor } }).then(
        ({ items, next }) =>
          html`${closeTable(visit, items)}${pager({ next, isFirst: cursor === undefined, pathAfter: (after) => pathOf(['reconciliation', 'closes'], { cursor: after }) })}`,
      ),
    ),
    visit.may('operator')
      ? part(makeOne(visit, asked, problem))
      : formFor(visit, 'Making a close', () => nothing),
  ]);
  const body = html`${section('Make a close', making)}${section('Closes', closes)}`;
  return { title: 'Daily closes', body };
}

/** Asks for days, and shows what their close would look up before it is made. */
async function makeOne(visit: Visit, asked: Asked, problem?: string): Promise<Html> {
  const { times, upstream } = visit;
  const { items } = await upstream.call('reconciler', comparisonOperations.drift, {});
  const today = startOfDay(dayAt(times.nowMs, times.zone), times.zone).getTime();
  const [from = dayAt(today - 1, times.zone), to, rail] = [asked('from'), asked('to'), asked('rail')];
  const days = filters({
    action: HOME,
    label: 'Days of a close',
    fields: [
      { name: 'from', label: 'First day', type: 'date', value: from },
      { name: 'to', label: 'Last day, if not the same', type: 'date', value: to },
      { name: 'rail', label: 'Rail', value: rail, options: [['', 'every rail'], ...railOptions(items)] },
    ],
  });
  if (asked('from') === undefined)
    return html`<p>A close looks up every payment that ended in its days again at its rail, and compares both.</p>${days}`;
  return html`${days}${problem === undefined ? await foresee(visit, asked) : problemOf(problem)}`;
}

async function foresee(visit: Visit, asked: Asked): Promise<Content> {
  try {
    const body = windowOf(asked, visit.times);
    const query = { dryRun: 'true' } as const;
    const found = await visit.upstream.call('reconciler', dryRunOf(closeOperations.open), { query, body });
    return await preview(visit, asked, found);
  } catch (error) {
    if (error instanceof RefusedError) return problemOf(messageOf(error));
    throw error;
  }
}

function preview({ times, csrf }: Visit, asked: Asked, found: ClosePreviewView): Html {
  const period = periodText(found.from, found.to, times);
  const payments = `${found.payments.toLocaleString('en-GB')} payments`;
  const waits = (until: string | null) =>
    until === null ? 'its answers' : html`its statement, until ${time(until, times)}; then its answers`;
  const rails = table({
    caption: `What the close of ${period} would look up`,
    columns: ['Rail', numbers('Payments'), numbers('At least'), 'Waits for'],
    rows: found.rails.map((one) => [
      link(pathOf(['rails', one.rail]), one.rail),
      count({ count: one.payments }),
      lengthText(one.atLeastSeconds * 1_000),
      waits(one.statementUntil),
    ]),
    empty: `No payment ended from ${period}.`,
  });
  if (found.exists)
    return html`<p class="done">This close is made already: ${link(pathOf(['reconciliation', 'closes', found.id]), found.id)}</p>`;
  const hidden = { from: asked('from') ?? '', to: asked('to') ?? '', rail: asked('rail') ?? '' };
  return html`${rails}${form({ csrf, action: HOME, hidden, submit: `Make the close: look up ${payments} at their rails` })}`;
}

/** Closes, the newest first. */
export function closeTable({ times }: Visit, closes: readonly CloseView[]): Html {
  return table({
    caption: 'Closes, the newest first',
    columns: ['Days', 'Rail', 'State', numbers('Payments'), 'Results', 'Asked for'],
    rows: closes.map((close) => {
      const path = ['reconciliation', 'closes', close.id];
      return [
        link(pathOf(path), periodText(close.from, close.to, times)),
        railOf(close),
        state(close.status),
        progressOf(close),
        resultLinks(path, close.results),
        html`${time(close.requestedAt, times)} by ${foreign(close.requestedBy)}`,
      ];
    }),
    empty: 'No close yet: one is made every night.',
  });
}

function railOf({ rail }: Pick<CloseView, 'rail'>): Content {
  return rail === null ? 'every rail' : link(pathOf(['rails', rail]), rail);
}

function progressOf({ status, done, payments }: CloseView): Content {
  if (done === null || payments === null) return inWords(status);
  if (status === 'done') return count({ count: payments });
  return html`<progress max="${Math.max(payments, 1)}" value="${done}" aria-label="How many are looked up"></progress> ${count({ count: done })} of ${count({ count: payments })}${status === 'gathering' ? ' so far' : ''}`;
}

async function showOne(visit: Visit): Promise<Page> {
  const { times, upstream } = visit;
  const parameters = { id: visit.part('id') };
  const result = oneOf(closeResults, visit.query('result'));
  const query = { result, cursor: visit.query('cursor') };
  const [close, page] = await Promise.all([
    upstream.call('reconciler', closeOperations.show, { parameters }),
    upstream.call('reconciler', closeOperations.records, { parameters, query }),
  ]);
  const path = ['reconciliation', 'closes', close.id];
  const isDone = close.status === 'done';
  const about = facts([
    ['Days', periodText(close.from, close.to, times)],
    ['Rail', railOf(close)],
    ['State', state(close.status)],
    ['Payments looked up', progressOf(close)],
    [
      'Waits for statements until',
      close.statementsUntil === null ? undefined : time(close.statementsUntil, times),
    ],
    ['Came late', close.late === 0 ? undefined : count({ count: close.late })],
    ['Asked for', html`${time(close.requestedAt, times)} by ${foreign(close.requestedBy)}`],
    ['Done', time(close.finishedAt, times)],
    ['Id', copyable(close.id)],
  ]);
  const records = recordSection(visit, {
    path,
    title: 'Its payments',
    page,
    isDone,
    columns: ['Payment', 'Result', 'Rail', 'Ours', 'Theirs', 'Difference', 'Ended', 'Break, or why'],
    rowOf: (record) => rowOf(record, times),
  });
  const body = html`${resultLinks(path, close.results, result)}${section('The close', html`${about}<p><small>${CLOSE_MATCHES}</small></p>`)}${records}`;
  const title = `Close of ${periodText(close.from, close.to, times)}: ${inWords(close.status)}`;
  return { title, body, ...(!isDone && { everySeconds: 2 }) };
}

function rowOf(record: CloseRecordView, times: TimeView): readonly Content[] {
  const { reference, result, rail, currency, ours, theirs, differences, breakId, why } = record;
  return [
    link(pathOf(['payments', reference]), reference),
    state(result),
    link(pathOf(['rails', rail]), rail),
    side(ours, currency),
    side(theirs, currency),
    differences
      .map(({ field, amount }) => `${inWords(field)} ${displayAmount(amount, currency, 'exceptZero')}`)
      .join(', '),
    time(record.endedAt, times),
    html`${breakLinks([breakId, ...record.alsoCoveredBy])}${why === null ? nothing : foreign(why)}`,
  ];
}
