import {
  type BreakView,
  breakOperations,
  comparisonOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { describeDrift, describeOverdue, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { curve, type Point } from '../view/curve.ts';
import { type Content, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, table } from '../view/table.ts';
import { age, amount, state, type TimeView, time, timeText } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { numbers } from './match-runs.ts';
import { walletPath } from './today.ts';

const POINTS_MAX = 200;

/** Adds the page of a rail's wallet: its drift over time, and what explains it. */
export function addWalletPage(routes: Routes): void {
  routes.page('/reconciliation/wallets/:rail/:currency', show);
}

async function show(visit: Visit): Promise<Page> {
  const { call } = visit.upstream;
  const wallet = { rail: visit.part('rail'), currency: visit.part('currency') };
  const cursor = visit.query('cursor');
  const status = 'unresolved' as const;
  const [latest, runs, breaks] = await Promise.all([
    call('reconciler', comparisonOperations.runs, { query: { ...wallet, limit: 1 } }),
    call('reconciler', comparisonOperations.runs, { query: { ...wallet, cursor, limit: POINTS_MAX } }),
    part(
      call('reconciler', breakOperations.list, { query: { ...wallet, status } }).then(({ items }) =>
        breakTable(visit, items),
      ),
    ),
  ]);
  const title = `${wallet.rail} ${wallet.currency}`;
  const [run] = latest.items;
  if (!run)
    return {
      title,
      body: html`<p class="empty">This wallet was not compared yet. ${link('/reconciliation', 'Compare every wallet')}</p>`,
    };
  const all = [pathOf(['breaks'], { ...wallet, status }), 'All of them'] as const;
  const body = html`${findings(visit, run)}${section('Now', standing(visit, run))}
${section(
  'Drift over time',
  html`${drawn(visit, runs.items, wallet.currency)}${pager({
    next: runs.next,
    isFirst: cursor === undefined,
    pathAfter: (after) =>
      pathOf(['reconciliation', 'wallets', wallet.rail, wallet.currency], { cursor: after }),
  })}`,
)}
${section('Open breaks of this wallet and its payments', breaks, all)}`;
  const found = run.withinRange ? inWords(run.finding) : 'out of range';
  return { title: `${title}: ${found}`, body, everySeconds: 60 };
}

/** What the latest comparison found in sentences, and the payments that may be the cause. */
function findings({ times }: Visit, run: WalletComparisonView): Html {
  const { explainedBy, overdue, candidates, configured } = run;
  const at = (text: string) => timeText(text, times.zone);
  const [drift, old] = [describeDrift(run, at), describeOverdue(run, at)];
  return html`${configured ? nothing : html`<p class="problem">The rail was removed from the settings: its wallet is not compared any more.</p>`}
<p>${drift === undefined ? 'The rail has exactly what our float says.' : sentence(drift, explainedBy)}</p>
${old === undefined ? nothing : html`<p>${sentence(old, overdue?.references ?? [])}</p>`}
${
  candidates.length === 0
    ? nothing
    : table({
        caption: 'What could explain it',
        columns: ['Payment', 'Why'],
        rows: candidates.map(({ reference, why }) => [
          link(pathOf(['payments', reference]), reference),
          foreign(why),
        ]),
        empty: nothing,
      })
}`;
}

/** A sentence that names payments, with a link on each. */
function sentence(text: string, references: readonly string[]): Content {
  const known = new Set(references);
  const pieces = text
    .split(/([\w-]+)/)
    .map((piece) => (known.has(piece) ? link(pathOf(['payments', piece]), piece) : piece));
  return html`${pieces}.`;
}

function standing({ times }: Visit, run: WalletComparisonView): Html {
  const { rail, currency, drift, unexplainedSince } = run;
  return facts([
    ['At the rail', amount(run.railBalance, currency, pathOf(['rails', rail]))],
    ['Our float', amount(run.float, currency, pathOf(['ledger', 'accounts', `float:${rail}:${currency}`]))],
    ['Drift: the rail less our float', displayAmount(drift, currency, 'exceptZero')],
    [
      'Balance at the rail that open payments allow',
      html`${amount(run.lower, currency)} to ${amount(run.upper, currency)}`,
    ],
    ['Finding', run.withinRange ? inWords(run.finding) : state('out_of_range')],
    ['Unexplained for', unexplainedSince === null ? undefined : age(unexplainedSince, times)],
    ['Compared', time(run.at, times)],
  ]);
}

function drawn({ times }: Visit, newestFirst: readonly WalletComparisonView[], currency: string): Html {
  const points = newestFirst.toReversed().map(({ at, drift }) => ({ at, amount: drift }));
  return curve({ finding: changeOf(points, currency, times), points, currency, times });
}

/** The last change of a curve, in a sentence. */
function changeOf(points: readonly Point[], currency: string, { zone }: TimeView): string {
  const [newest, oldest] = [points.at(-1), points[0]];
  if (!newest || !oldest) return 'No comparison.';
  const shown = (text: string) => displayAmount(text, currency, 'exceptZero');
  const last = points.findLastIndex((point) => point.amount !== newest.amount);
  const [before, since] = [points[last], points[last + 1]];
  return before && since
    ? `The drift went from ${shown(before.amount)} to ${shown(newest.amount)} at ${timeText(since.at, zone)}.`
    : `The drift is ${shown(newest.amount)} in every comparison since ${timeText(oldest.at, zone)}.`;
}

function breakTable({ times }: Visit, breaks: readonly BreakView[]): Html {
  return table({
    caption: 'The newest first',
    columns: ['Break', 'About', numbers('Amount'), 'State', 'Open for', 'Owner'],
    rows: breaks.map(({ id, kind, reference, currency, amount: text, status, since, owner }) => [
      link(pathOf(['breaks', id]), inWords(kind)),
      link(reference.includes(':') ? walletPath(reference) : pathOf(['payments', reference]), reference),
      amount(text, currency, pathOf(['breaks', id])),
      state(status),
      age(since, times),
      foreign(owner),
    ]),
    empty: 'No break of this wallet, or of a payment in it, is open.',
  });
}
