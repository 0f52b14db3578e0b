import {
  dryRunOf,
  type RailStatementPreviewView,
  railStatementOperations,
  statementMappingOperations,
} from '@pesewa/contracts';
import { ClientError, describeLines, inWords, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form, problemOf } from '../view/form.ts';
import type { Html } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { count, counted, type TimeView, time } from '../view/values.ts';
import {
  type Given,
  momentOf,
  only,
  type Routes,
  type Upload,
  type UploadOutcome,
  type Visit,
} from '../visits.ts';
import { railOptions } from './match-runs.ts';
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
  const json =
    'Such as {"columns":{"reference":"Our Ref","amount":"Amount"},"holds":"payouts"}, in place of the fields';
  const expert = {
    name: 'mappingText',
    label: 'Mapping in JSON',
    hint: json,
    isLong: true,
    maxLength: 4_096,
  };
  const fields = [
    { name: 'rail', label: 'Rail', options: rails },
    { name: 'file', label: 'File (CSV), as the rail sent it', type: 'file', isRequired: true },
    { name: 'currency', label: 'Currency, if no column has it', hint: 'Such as KES', maxLength: 3 },
    {
      name: 'from',
      label: 'First day that is in it whole',
      hint: 'Empty: from its first line on',
      type: 'date',
    },
    { name: 'to', label: 'Last day', hint: 'Empty: to its last line', type: 'date' },
    {
      name: 'mapping',
      label: 'How the rail writes it',
      options: [['', 'as the fields below say'], ...names],
    },
    {
      name: 'keepAs',
      label: 'Keep the fields under the name',
      hint: 'a-z, 0-9 and -; it replaces what has the name',
      maxLength: 40,
    },
    ...mappingFields,
    { summary: 'All of it in JSON, for experts', fields: [expert] },
  ] as const;
  const submit = 'Send the file and match it';
  const buttons = html`<button type="submit" name="dryRun" value="true">Read and match its first lines, and keep nothing</button> <button type="submit" class="primary">${submit}</button>
<progress max="100" value="0" hidden aria-label="How much is sent"></progress>`;
  const shown = () => html`<noscript><p class="problem">${NO_SCRIPT}</p></noscript>
<p>Every line is compared with our payment of its reference; what differs becomes breaks. The same file again goes on from where it stopped, and opens no break twice.</p>
${form({ csrf: visit.csrf, action: HOME, fields, given: written, submit, buttons, problem, upload: `${HOME}/file` })}<div tabindex="-1"></div>`;
  return { title: 'Send a statement of a rail', body: only(visit, 'operator', shown) };
}

async function take(visit: Upload): Promise<UploadOutcome> {
  const { query, times, upstream, content, sizeBytes } = visit;
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
    const [from, to] = [momentOf(visit, query, 'from'), momentOf(visit, query, 'to', 'end')];
    const given = { query: { ...terms, from, to } };
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
    ...results.map(([result, number]) => [inWords(result), count(number)] as const),
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
