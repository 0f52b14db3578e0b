import {
  type CoverageView,
  closeOperations,
  comparisonOperations,
  coverageOperations,
  railStatementOperations,
} from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form } from '../view/form.ts';
import { foreign, type Html, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { table } from '../view/table.ts';
import { count, lengthText, time } from '../view/values.ts';
import { doOrShowAgain, type Outcome, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { closeTable } from './closes.ts';
import { formFor, numbers } from './match-runs.ts';
import { statementTable } from './statements.ts';
import { walletTable } from './today.ts';

const HOME = '/reconciliation';
const SHOWN = 5;

/** Adds the page of how the rails' wallets, payments and statements compare with our books. */
export function addReconciliationPage(routes: Routes): void {
  routes.page(HOME, async (visit) => ({ ...(await show(visit)), everySeconds: 30 }));
  routes.form(`${HOME}/compare`, compare);
  routes.form(`${HOME}/audits`, async (submission) =>
    doOrShowAgain(
      async () => {
        await submission.upstream.call('reconciler', coverageOperations.start, {});
        return HOME;
      },
      async (problem) => show(submission, { audit: problem }),
    ),
  );
}

/** What was wrong with a form of the page. */
type Problems = Readonly<Partial<Record<'compare' | 'audit', string>>>;

async function show(visit: Visit, { compare: notCompared, audit }: Problems = {}): Promise<Page> {
  const { call } = visit.upstream;
  const newest = <Item>(
    listed: Promise<{ readonly items: readonly Item[] }>,
    shown: (visit: Visit, items: readonly Item[]) => Html,
    most = SHOWN,
  ) => part(listed.then(({ items }) => shown(visit, items.slice(0, most))));
  const [wallets, closes, statements, audits] = await Promise.all([
    newest(call('reconciler', comparisonOperations.drift, {}), walletTable, Infinity),
    newest(call('reconciler', closeOperations.list, {}), closeTable),
    newest(call('reconciler', railStatementOperations.list, {}), statementTable),
    newest(call('reconciler', coverageOperations.list, { query: { limit: SHOWN } }), auditTable),
  ]);
  const button = (what: string, to: string, submit: string, problem: string | undefined) =>
    formFor(visit, what, () => form({ csrf: visit.csrf, action: `${HOME}/${to}`, submit, problem }));
  const again = button('Comparing', 'compare', 'Compare every wallet now', notCompared);
  const start = button('Starting an audit', 'audits', 'Audit all open payments now', audit);
  const body = html`${section('Wallets at the rails against our floats', html`${wallets}${again}`)}
${section('Daily closes', closes, [`${HOME}/closes`, 'All closes, and make one'])}
${section("The rails' statements", statements, [`${HOME}/statements`, 'All statements, and send one'])}
${section('Audits of whether every open payment is polled', html`${audits}${start}`)}`;
  return { title: 'Reconciliation', body };
}

async function compare(submission: Submission): Promise<Outcome> {
  const { call } = submission.upstream;
  const again = async (problem: string) => show(submission, { compare: problem });
  const silent: string[] = [];
  const outcome = await doOrShowAgain(async () => {
    const compared = await call('reconciler', comparisonOperations.compare, {});
    const known = await call('reconciler', comparisonOperations.drift, {});
    const ids = new Set(compared.items.map(({ id }) => id));
    for (const { id, rail, currency, configured } of known.items)
      if (configured && !ids.has(id)) silent.push(`${rail} ${currency}`);
    return HOME;
  }, again);
  if (silent.length === 0) return outcome;
  const problem = `Not compared: ${silent.join(', ')}. The rail or our own services did not answer in time.`;
  return { again: await again(problem), status: 409 };
}

function auditTable({ times }: Visit, audits: readonly CoverageView[]): Html {
  const gap = (number: number, kind: string) =>
    count({ count: number }, number === 0 ? undefined : pathOf(['breaks'], { kind }));
  return table({
    caption: 'The newest audits',
    columns: [
      'Time',
      'State',
      ...['Read', 'Open', 'Missing', 'Ended unseen', 'Behind', 'Repaired'].map(numbers),
      'Took',
    ],
    rows: audits.map((audit) => [
      time(audit.at, times),
      html`${inWords(audit.status)}${audit.sources.map(({ kind, error }) =>
        error === null ? nothing : html`, ${kind}: ${foreign(error)}`,
      )}`,
      count({ count: audit.read }),
      count({ count: audit.tracked }, '/payments'),
      gap(audit.missing, 'coverage.missing'),
      gap(audit.ended, 'coverage.ended'),
      gap(audit.behind, 'coverage.behind'),
      count({ count: audit.repaired }),
      lengthText(audit.tookMs),
    ]),
    empty: 'No audit yet: one is made every night, or start it here.',
  });
}
