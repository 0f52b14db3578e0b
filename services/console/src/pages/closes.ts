import { type CloseRecordView, type CloseView, closeOperations, closeResults } from '@pesewa/contracts';
import { DAY_MS, displayAmount } from '@pesewa/kernel';
import { CLOSE_MATCHES, dayAt, inWords, UTC } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { type Content, copyable, foreign, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { type Columns, cells, facts, twoLines } from '../view/table.ts';
import { count, counted, state, type TimeView, time, words } from '../view/values.ts';
import type { Routes, Visit } from '../visits.ts';
import { addRunPages, breakLinks, periodText, railOptions, resultLinks, side } from './match-runs.ts';

const home = ['reconciliation', 'closes'];
const NEW = `${pathOf(home)}/new`;

/** Adds the pages of daily closes: what makes one, the list, and each with its records. */
export function addClosePages(routes: Routes): void {
  addChange(routes, NEW, ask, async (sent) => {
    const [date = '', rail] = [sent.field('date'), sent.field('rail')];
    const body = { date, ...(rail !== undefined && { rail }) };
    return pathTo('close', (await sent.upstream.call('reconciler', closeOperations.open, { body })).id);
  });
  addRunPages(routes, {
    home: 'closes',
    operations: closeOperations,
    results: closeResults,
    title: 'Daily closes',
    begin: 'Make a close…',
    columns: closeColumns,
    empty: NO_CLOSE,
    show: (close, times) => [
      `Close of ${periodText(close.from, close.to, times)}: ${inWords(close.status)}`,
      close.results,
      close.running,
      section('The close', html`${standing(close, times)}<p><small>${CLOSE_MATCHES}</small></p>`),
    ],
    records: 'Its payments',
    recordColumns,
  });
}

async function ask(visit: Visit): Promise<Change> {
  const yesterday = dayAt(visit.times.nowMs - DAY_MS, UTC);
  return {
    title: 'Make a close',
    about: html`<p>A close asks the rails about the payments that ended on its day and were not compared yet, and compares both.</p>`,
    fields: [
      { name: 'date', label: 'Day (UTC)', type: 'date', value: yesterday },
      { name: 'rail', label: 'Rail', options: [['', 'every rail'], ...(await railOptions(visit))] },
    ],
    submit: 'Make the close',
    back: [pathOf(home), 'All closes'],
  };
}

/** What stands where there is no close. */
export const NO_CLOSE = 'No close yet: one is made every night.';

/** The columns of closes. */
export const closeColumns = (times: TimeView): Columns<CloseView> => [
  [
    'Days',
    (close) => twoLines(linkTo('close', close.id, periodText(close.from, close.to, times)), railOf(close)),
  ],
  ['State', (close) => twoLines(state(close.status), progressOf(close))],
  [
    'Asked for',
    ({ requestedAt, requestedBy: by }) => twoLines(time(requestedAt, times), html`by ${foreign(by)}`),
  ],
  ['Results', ({ id, results }) => resultLinks([...home, id], results)],
];

function railOf({ rail }: Pick<CloseView, 'rail'>): Content {
  return rail === null ? 'every rail' : linkTo('rail', rail);
}

function progressOf({ id, status, done, payments }: CloseView): Content {
  if (done === null || payments === null) return 'how many is not known yet';
  if (status === 'done') return link(pathTo('close', id), counted(payments, 'payment'));
  return html`<progress max="${Math.max(payments, 1)}" value="${done}" aria-label="How many are looked up"></progress> ${count(done)} of ${count(payments)}`;
}

function standing(close: CloseView, times: TimeView): Content {
  const { id, late, finishedAt } = close;
  return facts([
    ...cells(closeColumns(times).slice(0, -1), close),
    ['Came late', late === 0 ? undefined : count(late)],
    ['Done', time(finishedAt, times)],
    ['Id', copyable(id)],
  ]);
}

const recordColumns = (times: TimeView): Columns<CloseRecordView> => [
  [
    'Payment',
    ({ reference, rail, endedAt }) =>
      twoLines(linkTo('payment', reference), html`at ${linkTo('rail', rail)}, ended ${time(endedAt, times)}`),
  ],
  [
    'Result',
    (record) => twoLines(state(record.result), breakLinks([record.breakId, ...record.alsoCoveredBy])),
  ],
  ['Ours', ({ ours, currency }) => side(ours, currency)],
  ['Theirs', ({ theirs, currency }) => side(theirs, currency)],
  [
    'Difference',
    ({ differences, currency, why }) =>
      twoLines(
        differences
          .map(({ field, amount }) => `${inWords(field)} ${displayAmount(amount, currency, 'exceptZero')}`)
          .join(', '),
        why === null ? nothing : words(why, times),
      ),
  ],
];
