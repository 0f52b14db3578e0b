import {
  type CoverageView,
  closeOperations,
  comparisonOperations,
  coverageOperations,
  railStatementOperations,
} from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { form } from '../view/form.ts';
import { type Html, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { type Columns, tableOf } from '../view/table.ts';
import { count, type TimeView, time } from '../view/values.ts';
import { only, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { closeColumns, NO_CLOSE } from './closes.ts';
import { NO_STATEMENT, statementColumns } from './statements.ts';
import { walletTable } from './wallet.ts';

const HOME = '/reconciliation';
const SHOWN = 5;
const COMPARE = 'Compare every wallet now';
const AUDIT = 'Audit all open payments now';

/** Adds the page of how the rails' wallets, payments and statements compare with our books. */
export function addReconciliationPage(routes: Routes): void {
  routes.page(HOME, show);
  const asked = (title: string): Change => ({ title, submit: title, back: [HOME, 'Reconciliation'] });
  addChange(routes, `${HOME}/compare`, () => asked(COMPARE), compare);
  addChange(
    routes,
    `${HOME}/audits`,
    () => asked(AUDIT),
    async ({ upstream }) => {
      await upstream.call('reconciler', coverageOperations.start, {});
      return HOME;
    },
  );
}

async function show(visit: Visit): Promise<Page> {
  const { times, upstream, csrf } = visit;
  const { call } = upstream;
  const newest = <Item>(
    listed: Promise<{ readonly items: readonly Item[] }>,
    columns: (times: TimeView) => Columns<Item>,
    empty: Html | string,
  ) =>
    part(
      listed.then(({ items }) => tableOf('The newest first', items.slice(0, SHOWN), columns(times), empty)),
    );
  const [wallets, closes, statements, audits] = await Promise.all([
    part(call('reconciler', comparisonOperations.drift, {}).then(({ items }) => walletTable(visit, items))),
    newest(call('reconciler', closeOperations.list, {}), closeColumns, NO_CLOSE),
    newest(call('reconciler', railStatementOperations.list, {}), statementColumns, NO_STATEMENT),
    part(
      call('reconciler', coverageOperations.show, {}).then(({ items }) =>
        tableOf('By kind of payment', items, auditColumns(times), nothing),
      ),
    ),
  ]);
  const button = (action: string, submit: string) =>
    only(visit, 'operator', () => form({ csrf, action: `${HOME}/${action}`, submit }));
  const body = html`${section('Wallets at the rails against our floats', html`${wallets}${button('compare', COMPARE)}`)}
${section('Daily closes', closes, [`${HOME}/closes`, 'All closes, and make one'])}
${section("The rails' statements", statements, [`${HOME}/statements`, 'All statements, and send one'])}
${section('Audits of whether every open payment is polled', html`${audits}${button('audits', AUDIT)}`)}`;
  return { title: 'Reconciliation', body, everySeconds: 30 };
}

async function compare({ upstream: { call } }: Submission): Promise<string> {
  const compared = await call('reconciler', comparisonOperations.compare, {});
  const known = await call('reconciler', comparisonOperations.drift, {});
  const ids = new Set(compared.items.map(({ id }) => id));
  const silent = known.items.filter(({ id, configured }) => configured && !ids.has(id));
  if (silent.length === 0) return HOME;
  const names = silent.map(({ rail, currency }) => `${rail} ${currency}`).join(', ');
  throw new RefusedError(`Not compared: ${names}. The rail or our own services did not answer in time.`, 409);
}

const auditColumns = (times: TimeView): Columns<CoverageView> => [
  ['Kind', ({ kind }) => kind],
  ['All compared', ({ doneAt }) => (doneAt === null ? 'never' : time(doneAt, times))],
  ['State', ({ status }) => inWords(status)],
  [
    'Not polled as they should be',
    ({ missing, ended, behind }) =>
      html`${gap(missing, 'missing')} missing, ${gap(ended, 'ended')} ended unseen, ${gap(behind, 'behind')} behind`,
  ],
];

const gap = (number: number, kind: string) =>
  count(number, number === 0 ? undefined : pathOf(['breaks'], { kind: `coverage.${kind}` }));
