import {
  type RailStatementRecordView,
  type RailStatementView,
  railStatementOperations,
  railStatementResults,
} from '@pesewa/contracts';
import { describeLines, inWords, whyUnmatched } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, table } from '../view/table.ts';
import { amount, count, state, type TimeView, time } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { breakLinks, numbers, oneOf, periodText, recordSection, resultLinks, side } from './match-runs.ts';

const HOME = '/reconciliation/statements';

/** Adds the pages of rails' statements: the list, and each with its lines. */
export function addStatementPages(routes: Routes): void {
  routes.page(HOME, showList);
  routes.page(`${HOME}/:id`, showOne);
  routes.download(`${HOME}/:id/export`, (visit) =>
    visit.upstream.fetch('reconciler', railStatementOperations.export, {
      parameters: { id: visit.part('id') },
      query: { result: oneOf(railStatementResults, visit.query('result')) },
    }),
  );
}

/** The path of a statement's page. */
export const statementPath = (id: string): string => pathOf(['reconciliation', 'statements', id]);

async function showList(visit: Visit): Promise<Page> {
  const cursor = visit.query('cursor');
  const listed = visit.upstream.call('reconciler', railStatementOperations.list, { query: { cursor } });
  const body = await part(
    listed.then(
      ({ items, next }) =>
        html`${statementTable(visit, items)}${pager({
          next,
          isFirst: cursor === undefined,
          pathAfter: (after) => pathOf(['reconciliation', 'statements'], { cursor: after }),
        })}`,
    ),
  );
  const send = html`<p class="actions">${link(`${HOME}/new`, 'Send a statement')}</p>`;
  return { title: "The rails' statements", body: html`${visit.may('operator') ? send : nothing}${body}` };
}

/** Statements, the newest first. */
export function statementTable({ times }: Visit, statements: readonly RailStatementView[]): Html {
  return table({
    caption: 'Statements, the newest first',
    columns: ['Sent', 'Rail', 'Payments that ended from', 'State', numbers('Lines'), 'Results', 'By'],
    rows: statements.map((one) => [
      link(statementPath(one.id), time(one.uploadedAt, times)),
      railOf(one),
      one.from === null ? dash : periodText(one.from, one.to, times),
      state(one.status),
      count({ count: one.lines }),
      resultLinks(['reconciliation', 'statements', one.id], one.counts),
      foreign(one.uploadedBy),
    ]),
    empty: html`No statement was sent yet. ${link(`${HOME}/new`, 'Send the first one')}: every line of it is compared with our payments.`,
  });
}

function railOf({ rail, currency }: Pick<RailStatementView, 'rail' | 'currency'>): Content {
  if (currency === null) return link(pathOf(['rails', rail]), rail);
  return link(pathOf(['reconciliation', 'wallets', rail, currency]), `${rail} ${currency}`);
}

async function showOne(visit: Visit): Promise<Page> {
  const { times, upstream } = visit;
  const parameters = { id: visit.part('id') };
  const result = oneOf(railStatementResults, visit.query('result'));
  const query = { result, cursor: visit.query('cursor') };
  const [statement, page] = await Promise.all([
    upstream.call('reconciler', railStatementOperations.show, { parameters }),
    upstream.call('reconciler', railStatementOperations.records, { parameters, query }),
  ]);
  const path = ['reconciliation', 'statements', statement.id];
  const { status, stage, counts } = statement;
  const isMoving = status === 'receiving' || status === 'matching';
  const records = recordSection(visit, {
    path,
    title: 'Its lines, and payments without one',
    page,
    isDone: status === 'done',
    columns: recordColumns,
    rowOf: (record) => recordRow(record, times),
  });
  const progress = html`<p><progress aria-label="${inWords(stage ?? status)}"></progress> ${inWords(stage ?? status)}: ${count({ count: statement.lines })} lines so far</p>`;
  const body = html`${isMoving ? progress : resultLinks(path, counts, result)}${proposalOf(statement)}
${section('The statement', standing(statement, times))}${records}`;
  const title = `Statement of ${statement.rail}: ${inWords(status)}`;
  return { title, body, ...(isMoving && { everySeconds: 2 }) };
}

/** The options that the mapping lacks, as they are written in it. */
export function proposalOf({ file }: Pick<RailStatementView, 'file'>): Html {
  if (!file?.proposal) return nothing;
  return html`<p class="problem">More lines can be read with this in the mapping: <code>${foreign(JSON.stringify(file.proposal))}</code></p>`;
}

function standing(statement: RailStatementView, times: TimeView): Html {
  const { id, rail, from, to, file, breaksOpened, breaksHidden, sha256 } = statement;
  const hidden = breaksHidden > 0 ? html`; ${count({ count: breaksHidden })} more had no room` : nothing;
  return facts([
    ['Rail', railOf(statement)],
    [
      'Payments that ended from',
      from === null
        ? 'no time is given: payments without a line are not looked for'
        : periodText(from, to, times),
    ],
    ['State', state(statement.status)],
    ['Lines', file === null ? count({ count: statement.lines }) : describeLines(file)],
    [
      'Breaks opened',
      html`${count({ count: breaksOpened }, breaksOpened === 0 ? undefined : pathOf(['breaks'], { rail }))}${hidden}`,
    ],
    ['Sent', html`${time(statement.uploadedAt, times)} by ${foreign(statement.uploadedBy)}`],
    ['Done', time(statement.doneAt, times)],
    ['Id', copyable(id)],
    ['SHA-256 of the file', copyable(sha256)],
  ]);
}

/** The columns of {@link recordRow}. */
export const recordColumns = [
  numbers('Line'),
  'Result',
  'Our payment',
  'The line says',
  'At',
  numbers('Difference'),
  'Why',
  'Break',
];

/** A record of a statement as a row. */
export function recordRow(record: RailStatementRecordView, times: TimeView): readonly Content[] {
  const { line, result, payment, reference, railReference, kind, currency, at, difference } = record;
  const other = reference === payment ? null : reference;
  const named = [kind && inWords(kind), other, railReference].filter((one) => one !== null);
  return [
    line,
    state(result),
    payment === null ? dash : link(pathOf(['payments', payment]), payment),
    named.length === 0 ? dash : html`${foreign(named.join(', '))} ${side(record, currency)}`,
    time(at, times),
    amount(difference, currency),
    foreign(whyUnmatched(record)),
    breakLinks([record.breakId, ...record.alsoCoveredBy]),
  ];
}
