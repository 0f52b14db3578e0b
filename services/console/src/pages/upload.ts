import {
  dryRunOf,
  type RailStatementPreviewView,
  railStatementOperations,
  statementMappingOperations,
} from '@pesewa/contracts';
import { ClientError, describeLines, inWords, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Field, form, problemOf } from '../view/form.ts';
import type { Html } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { count, counted, type TimeView, time } from '../view/values.ts';
import { type Given, only, type Routes, type Upload, type UploadOutcome, type Visit } from '../visits.ts';
import { daysOf, railOptions } from './match-runs.ts';
import { mappingBody, mappingFields, mappingText, withLabels } from './statement-mapping.ts';
import { proposalOf, recordColumns } from './statements.ts';

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

async function show(visit: Visit, written: Given, problem?: string): Promise<Page> {
  const { call } = visit.upstream;
  const [rails, mappings] = await Promise.all([
    railOptions(visit),
    call('reconciler', statementMappingOperations.list, {}),
  ]);
  const names = mappings.items.map(({ name, by }) => [name, `${name}, kept by ${by}`] as const);
  const field = (name: string, label: string, hint?: string, more: Partial<Field> = {}): Field => ({
    name,
    label,
    value: written(name),
    ...(hint !== undefined && { hint }),
    ...more,
  });
  const { columns, rest } = mappingFields(written);
  const json =
    'Such as {"columns":{"reference":"Our Ref","amount":"Amount"},"holds":"payouts"}, in place of the fields';
  const expert = field('mappingText', 'Mapping in JSON', json, { isLong: true, maxLength: 4_096 });
  const kept = [['', 'as the fields below say'] as const, ...names];
  const fields = [
    field('rail', 'Rail', undefined, { options: rails }),
    field('file', 'File (CSV), as the rail sent it', undefined, { type: 'file', isRequired: true }),
    field('currency', 'Currency, if no column has it', 'Such as KES', { maxLength: 3 }),
    field('from', 'First day that is in it whole', 'Empty: from its first line on', { type: 'date' }),
    field('to', 'Last day', 'Empty: to its last line', { type: 'date' }),
    field('mapping', 'How the rail writes it', undefined, { options: kept }),
    field('keepAs', 'Keep the fields under the name', 'a-z, 0-9 and -; it replaces what has the name', {
      maxLength: 40,
    }),
  ];
  const shown = () => html`<noscript><p class="problem">${NO_SCRIPT}</p></noscript>
<p>Every line is compared with our payment of its reference; what differs becomes breaks. The same file again goes on from where it stopped, and opens no break twice.</p>
${form({
  csrf: visit.csrf,
  action: HOME,
  fields,
  folded: [columns, ...rest, ['All of it in JSON, for experts', [expert]]],
  submit: 'Send the file and match it',
  problem,
  upload: { path: `${HOME}/file`, tryOut: 'Read and match its first lines, and keep nothing' },
})}`;
  return { title: 'Send a statement of a rail', body: only(visit, 'operator', shown) };
}

async function take({ query, times, upstream, content, sizeBytes }: Upload): Promise<UploadOutcome> {
  const file = { content, sizeBytes };
  const { upload } = railStatementOperations;
  const isTried = query('dryRun') !== undefined;
  try {
    const name = query('mapping') === undefined && !isTried ? query('keepAs') : query('mapping');
    if (query('mapping') === undefined && name !== undefined) {
      const given = { parameters: { name }, body: mappingBody(query) };
      await upstream.call('reconciler', statementMappingOperations.put, given);
    }
    const terms = {
      rail: query('rail') ?? '',
      mapping: name ?? mappingText(query),
      currency: query('currency')?.toUpperCase(),
      sha256: query('sha256') ?? '',
    };
    if (isTried) {
      const given = { query: { ...terms, dryRun: 'true' } } as const;
      return {
        shown: preview(await upstream.send('reconciler', dryRunOf(upload), given, file), times),
        status: 200,
      };
    }
    const given = { query: { ...terms, ...daysOf(query('from'), query('to'), times) } };
    const sent = await upstream.send('reconciler', upload, given, file);
    if (sent.status !== 'done') return { goTo: pathTo('statement', sent.id) };
    const known = html`<p class="done">${sent.uploadedBy} has sent this file with this mapping before, ${time(sent.uploadedAt, times)}: ${linkTo('statement', sent.id, 'see what it gave')}.</p>`;
    return { shown: known, status: 200 };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { shown: problemOf(withLabels(messageOf(error))), status: 422 };
  }
}

/** How the mapping reads the first lines of a file, and what their matching would give. */
function preview(tried: RailStatementPreviewView, times: TimeView): Html {
  const { lines, file, counts, problems } = tried;
  const results = Object.entries(counts ?? {}).filter(([, number]) => number > 0);
  const body = html`${proposalOf(tried)}${facts([
    ...results.map(([result, number]) => [inWords(result), count({ count: number })] as const),
    ['Lines', file === null ? undefined : describeLines(file)],
  ])}
${tableOf(
  'Those that are not matched, the first ones',
  problems,
  recordColumns(times, problems),
  lines === 0 ? 'The mapping finds no line.' : 'Every line can be read, and is matched.',
)}<p>Nothing was kept, and no break was opened.</p>`;
  return section(`The first ${counted(lines, 'line')}, as the mapping reads them`, body);
}
