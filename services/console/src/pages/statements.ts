import {
  type RailStatementRecordView,
  type RailStatementView,
  railStatementOperations,
  railStatementResults,
} from '@pesewa/contracts';
import { describeLines, inWords, whyUnmatched } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, cells, facts, twoLines } from '../view/table.ts';
import { amount, count, counted, state, type TimeView, time, words } from '../view/values.ts';
import type { Routes } from '../visits.ts';
import { addRunPages, breakLinks, periodText, resultLinks, side } from './match-runs.ts';

const home = ['reconciliation', 'statements'];
const NEW = `${pathOf(home)}/new`;

/** Adds the pages of rails' statements: the list, and each with its lines. */
export function addStatementPages(routes: Routes): void {
  addRunPages(routes, {
    home: 'statements',
    operations: railStatementOperations,
    results: railStatementResults,
    title: "The rails' statements",
    begin: 'Send a statement…',
    columns: statementColumns,
    empty: NO_STATEMENT,
    show: (statement, times) => [
      `Statement of ${statement.rail}: ${inWords(statement.status)}`,
      statement.counts,
      isMoving(statement),
      html`${proposalOf(statement)}${section('The statement', standing(statement, times))}`,
    ],
    records: 'Its lines, and payments without one',
    recordColumns,
  });
}

const isMoving = ({ status }: RailStatementView) => status === 'receiving' || status === 'matching';

/** What stands where there is no statement. */
export const NO_STATEMENT = html`No statement was sent yet. ${link(NEW, 'Send the first one')}: every line of it is compared with our payments.`;

/** The columns of statements. */
export const statementColumns = (times: TimeView): Columns<RailStatementView> => [
  [
    'Sent',
    ({ id, uploadedAt, uploadedBy }) =>
      twoLines(linkTo('statement', id, time(uploadedAt, times)), html`by ${foreign(uploadedBy)}`),
  ],
  ['Rail', (one) => twoLines(railOf(one), one.from === null ? nothing : periodText(one.from, one.to, times))],
  [
    'State',
    ({ id, status, lines }) => twoLines(state(status), link(pathTo('statement', id), counted(lines, 'line'))),
  ],
  ['Results', ({ id, counts }) => resultLinks([...home, id], counts)],
];

function railOf({ rail, currency }: Pick<RailStatementView, 'rail' | 'currency'>): Html {
  return currency === null
    ? linkTo('rail', rail)
    : link(pathToWallet(`${rail}:${currency}`), `${rail} ${currency}`);
}

/** The options that the mapping lacks, as they are written in it. */
export function proposalOf({ file }: Pick<RailStatementView, 'file'>): Html {
  if (!file?.proposal) return nothing;
  return html`<p class="problem">More lines can be read with this in the mapping: <code>${foreign(JSON.stringify(file.proposal))}</code></p>`;
}

function standing(statement: RailStatementView, times: TimeView): Html {
  const { rail, from, file, breaksOpened, breaksHidden, stage, status, doneAt } = statement;
  const at = inWords(stage ?? status);
  const hidden = breaksHidden > 0 ? html`; ${count(breaksHidden)} more had no room` : nothing;
  return facts([
    ...cells(statementColumns(times).slice(0, -1), statement),
    ['Now', isMoving(statement) ? html`<progress aria-label="${at}"></progress> ${at}` : undefined],
    ['Payments without a line', from === null ? 'are not looked for, as no time is given' : undefined],
    ['Lines', file === null ? undefined : describeLines(file)],
    [
      'Breaks opened',
      html`${count(breaksOpened, breaksOpened === 0 ? undefined : pathOf(['breaks'], { rail }))}${hidden}`,
    ],
    ['Done', time(doneAt, times)],
    ['Id', copyable(statement.id)],
    ['SHA-256 of the file', copyable(statement.sha256)],
  ]);
}

/** The columns of a statement's records; of a line that is there twice they say which the others are, as far as they are known. */
export const recordColumns = (
  times: TimeView,
  all: readonly RailStatementRecordView[],
): Columns<RailStatementRecordView> => [
  [
    'Result',
    (record) => twoLines(state(record.result), breakLinks([record.breakId, ...record.alsoCoveredBy])),
  ],
  ['Line', ({ line }) => line ?? dash, 'number'],
  ['Our payment', ({ payment }) => linkTo('payment', payment)],
  ['The line says', (record) => twoLines(side(record, record.currency), saidBy(record, times))],
  [
    'Difference',
    (record) => {
      const others = all.flatMap(({ line, payment }) =>
        payment !== null && payment === record.payment && line !== record.line ? [line] : [],
      );
      const twice = `${others.length === 0 ? 'another line' : `line ${others.join(', ')}`} names this payment too`;
      const why = whyUnmatched(record) ?? (record.result === 'duplicate' ? twice : undefined);
      return twoLines(amount(record.difference, record.currency), why && words(why, times));
    },
  ],
];

/** What else a line says: the rail's own word for its status, what it is about, by which references, and when. */
function saidBy(line: RailStatementRecordView, times: TimeView): Content {
  const { kind, reference, otherReference, railReference, statusWord, at } = line;
  const find = (text: string) =>
    text.startsWith('*') ? text : link(pathOf(['search'], { q: text }), foreign(text));
  const named = reference ?? otherReference;
  return [
    statusWord && html`“${foreign(statusWord)}” `,
    kind && html`${inWords(kind)} `,
    named && html`reference ${find(named)} `,
    railReference && html`the rail's reference ${find(railReference)} `,
    at && time(at, times),
  ];
}
