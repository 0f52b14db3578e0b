import {
  comparisonOperations,
  dryRunOf,
  type RailStatementPreviewView,
  railStatementOperations,
  statementMappingOperations,
} from '@pesewa/contracts';
import { ClientError, describeLines, inWords, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form, problemOf } from '../view/form.ts';
import { type Html, link } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, table } from '../view/table.ts';
import { count, time } from '../view/values.ts';
import type { Routes, Submission, Upload, UploadOutcome, Visit } from '../visits.ts';
import { daysOf, formFor, railOptions } from './match-runs.ts';
import { proposalOf, recordColumns, recordRow, statementPath } from './statements.ts';

const HOME = '/reconciliation/statements/new';
const NO_SCRIPT =
  'A script of this page sends the file, and it does not run in this browser: allow it, or see pesewa reconcile match --help';

/** Adds the page from which a rail's statement is sent, and where its file goes. */
export function addUploadPage(routes: Routes): void {
  routes.page(HOME, (visit) => show(visit, visit.query));
  routes.form(HOME, async (submission) => ({
    again: await show(submission, submission.field, NO_SCRIPT),
    status: 422,
  }));
  routes.upload(`${HOME}/file`, take);
}

async function show(visit: Visit, written: Submission['field'], problem?: string): Promise<Page> {
  const { call } = visit.upstream;
  const [wallets, mappings] = await Promise.all([
    call('reconciler', comparisonOperations.drift, {}),
    call('reconciler', statementMappingOperations.list, {}),
  ]);
  const names = mappings.items.map(({ name, by }) => [name, `${name}, kept by ${by}`] as const);
  const text = (name: string, label: string) => ({ name, label, value: written(name) });
  const fields = [
    { ...text('rail', 'Rail'), options: railOptions(wallets.items) },
    { name: 'file', label: 'File (CSV), as the rail sent it', type: 'file', isRequired: true },
    { ...text('mapping', 'Mapping'), options: [...names, ['', 'as written below']] },
    {
      ...text('mappingText', 'Mapping in JSON, if it is not kept under a name'),
      isLong: true,
      maxLength: 4_096,
      hint: 'Which column holds what, such as {"columns":{"reference":"Our Ref","amount":"Amount"},"holds":"payouts"}',
    },
    { ...text('currency', 'Currency, if no column has it'), maxLength: 3, hint: 'Such as KES' },
    {
      ...text('from', 'First day'),
      type: 'date',
      hint: "Payments that ended from then on must be in it. If this is empty: from the first line's time",
    },
    { ...text('to', 'Last day'), type: 'date', hint: "If this is empty: to the last line's time" },
  ] as const;
  const body = formFor(
    visit,
    'Sending a statement',
    () => html`<noscript><p class="problem">${NO_SCRIPT}</p></noscript>
<p>Every line is compared with our payment of its reference; what differs becomes breaks. The same file again goes on from where it stopped, and opens no break twice.</p>
${form({
  csrf: visit.csrf,
  action: HOME,
  fields,
  submit: 'Send the file and match it',
  problem,
  upload: { path: `${HOME}/file`, tryOut: 'Read and match its first lines, and keep nothing' },
})}`,
  );
  return { title: 'Send a statement of a rail', body };
}

async function take({ query, times, upstream, content, sizeBytes }: Upload): Promise<UploadOutcome> {
  const terms = {
    rail: query('rail') ?? '',
    mapping: query('mapping') ?? query('mappingText') ?? '{}',
    currency: query('currency')?.toUpperCase(),
    sha256: query('sha256') ?? '',
  };
  const file = { content, sizeBytes };
  const { upload } = railStatementOperations;
  try {
    if (query('dryRun') !== undefined) {
      const given = { query: { ...terms, dryRun: 'true' } } as const;
      const tried = await upstream.send('reconciler', dryRunOf(upload), given, file);
      return { shown: preview(tried, times), status: 200 };
    }
    const given = { query: { ...terms, ...daysOf(query('from'), query('to'), times) } };
    const sent = await upstream.send('reconciler', upload, given, file);
    if (sent.status !== 'done') return { goTo: statementPath(sent.id) };
    const known = html`<p class="done">${sent.uploadedBy} has sent this file with this mapping before, ${time(sent.uploadedAt, times)}: ${link(statementPath(sent.id), 'see what it gave')}.</p>`;
    return { shown: known, status: 200 };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { shown: problemOf(messageOf(error)), status: 422 };
  }
}

/** How the mapping reads the first lines of a file, and what their matching would give. */
function preview(tried: RailStatementPreviewView, times: Visit['times']): Html {
  const { lines, file, counts, problems } = tried;
  const results = Object.entries(counts ?? {}).filter(([, number]) => number > 0);
  const body = html`${proposalOf(tried)}${facts([
    ...results.map(([result, number]) => [inWords(result), count({ count: number })] as const),
    ['Lines', file === null ? undefined : describeLines(file)],
  ])}
${table({
  caption: 'Those that are not matched, the first ones',
  columns: recordColumns,
  rows: problems.map((record) => recordRow(record, times)),
  empty: lines === 0 ? 'The mapping finds no line.' : 'Every line can be read, and is matched.',
})}<p>Nothing was kept, and no break was opened.</p>`;
  return section(`The first ${lines.toLocaleString('en-GB')} lines, as the mapping reads them`, body);
}
