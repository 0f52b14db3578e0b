import { breakOperations, comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { dayAt, describeDrift, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, cells, facts, listOf, tableOf, twoLines } from '../view/table.ts';
import { age, amount, state, type TimeView, time, timeText, words } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { breakColumns } from './breaks.ts';

const POINTS_MAX = 200;
const EXPLAINED_SHOWN = 5;

/** A point of a curve. */
type Point = Pick<WalletComparisonView, 'at' | 'drift'>;

/** Adds the page of a rail's wallet: its drift over time, and what explains it. */
export function addWalletPage(routes: Routes): void {
  routes.page('/reconciliation/wallets/:rail/:currency', show);
}

async function show(visit: Visit): Promise<Page> {
  const { times } = visit;
  const { call } = visit.upstream;
  const wallet = { rail: visit.part('rail'), currency: visit.part('currency') };
  const query = { ...wallet, status: 'unresolved' } as const;
  const [latest, drift, breaks] = await Promise.all([
    call('reconciler', comparisonOperations.runs, { query: { ...wallet, limit: 1 } }),
    listOf(visit, {
      path: ['reconciliation', 'wallets', wallet.rail, wallet.currency],
      caption: 'Comparisons, the newest first',
      read: (cursor) =>
        call('reconciler', comparisonOperations.runs, { query: { ...wallet, cursor, limit: POINTS_MAX } }),
      columns: runColumns(times),
      empty: 'No comparison.',
      around: (table, runs) => drawn(times, runs, wallet.currency, table),
    }),
    part(
      call('reconciler', breakOperations.list, { query }).then(({ items }) =>
        tableOf('The newest first', items, breakColumns(times), 'No break of it or of its payments is open.'),
      ),
    ),
  ]);
  const title = `${wallet.rail} ${wallet.currency}`;
  const [run] = latest.items;
  const never = html`<p class="empty">This wallet was not compared yet. ${link('/reconciliation', 'Compare every wallet')}</p>`;
  if (!run) return { title, body: never };
  const body = html`${findings(times, run)}${section('Now', standing(times, run))}
${section('Drift over time', drift)}
${section('Open breaks of this wallet and its payments', breaks, [pathOf(['breaks'], query), 'All of them'])}`;
  const found = run.withinRange ? inWords(run.finding) : 'out of range';
  return { title: `${title}: ${found}`, body, everySeconds: 60 };
}

/** What the latest comparison found in sentences, and the payments that may be the cause. */
function findings(times: TimeView, run: WalletComparisonView): Html {
  const { explainedBy, candidates, configured } = run;
  const at = (text: string) => timeText(text, times.zone);
  const drift = describeDrift(run, at);
  return html`${configured ? nothing : html`<p class="problem">The rail was removed from the settings: its wallet is not compared any more.</p>`}
<p>${drift === undefined ? 'The rail has exactly what our float says.' : sentence(drift, explainedBy)}</p>
${candidates.length === 0 ? nothing : tableOf('What could explain it', candidates, candidateColumns(times), nothing)}`;
}

/** The columns of payments that may explain a difference. */
export const candidateColumns = (times: TimeView): Columns<WalletComparisonView['candidates'][number]> => [
  ['Payment', ({ reference }) => linkTo('payment', reference)],
  ['Why', ({ why }) => words(why, times)],
];

/** A sentence that names payments, with a link on each. */
function sentence(text: string, references: readonly string[]): Content {
  const known = new Set(references);
  return html`${text
    .split(/([\w-]+)/)
    .map((piece) => (known.has(piece) ? linkTo('payment', piece) : piece))}.`;
}

/** Our float as a comparison read it, which leads to what moved it on that day. */
function floatOf({ rail, currency, float, at }: WalletComparisonView, { zone }: TimeView): Html {
  const day = dayAt(Date.parse(at), zone);
  return amount(float, currency, pathTo('account', `float:${rail}:${currency}`, { from: day, to: day }));
}

const runColumns = (times: TimeView): Columns<WalletComparisonView> => [
  ['Time', ({ at }) => time(at, times)],
  [
    'At the rail',
    ({ railBalance, currency, rail }) => amount(railBalance, currency, pathTo('rail', rail)),
    'number',
  ],
  ['Our float', (run) => floatOf(run, times), 'number'],
  [
    'Drift: the rail less our float',
    ({ drift, currency }) => displayAmount(drift, currency, 'exceptZero'),
    'number',
  ],
];

function standing(times: TimeView, run: WalletComparisonView): Html {
  const { currency, lower, upper, unexplainedSince: since } = run;
  const [, ...amounts] = cells(runColumns(times), run);
  const allowed = html`${amount(lower, currency)} to ${amount(upper, currency)}`;
  return facts([
    ...[...amounts, ['Balance at the rail that open payments allow', allowed] as const].map(
      ([name, value]) => [name, twoLines(value, html`at ${time(run.at, times)}`)] as const,
    ),
    ['Finding', run.withinRange ? inWords(run.finding) : state('out_of_range')],
    ['Unexplained for', since === null ? undefined : age(since, times)],
  ]);
}

/** The drift of a page of comparisons as a curve, with its ends and its range, and the same as a table. */
function drawn(
  times: TimeView,
  newestFirst: readonly WalletComparisonView[],
  currency: string,
  table: Html,
): Html {
  const points = newestFirst.toReversed();
  const finding = changeOf(points, currency, times);
  const byDrift = points.toSorted((one, other) => Number(one.drift) - Number(other.drift));
  const text = (point: Point | undefined) => displayAmount(point?.drift ?? '0', currency, 'exceptZero');
  return html`<figure><figcaption>${finding}</figcaption><div class="plot">${curve(points, finding)}</div>
<p class="scale">${time(points[0]?.at, times)} <span>${text(byDrift[0])} to ${text(byDrift.at(-1))}</span> ${time(points.at(-1)?.at, times)}</p>
<details><summary>The same as a table</summary>${table}</details></figure>`;
}

/**
 * The curve of a drift over time with the line of zero, the oldest point first; `finding` says in words what it shows.
 * Numbers are for drawing alone: what people read is the exact text.
 */
function curve(points: readonly Point[], finding: string): Html {
  const values = points.map(({ drift }) => Number(drift));
  const times = points.map(({ at }) => Date.parse(at));
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const y = (value: number) => Math.round(96 - (92 * (value - low)) / (high - low || 1));
  const x = (time = first) => Math.round((1_000 * (time - first)) / (last - first || 1));
  const line = values.map((value, index) => `${x(times[index])},${y(value)}`).join(' ');
  return html`<svg class="curve" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="${finding}"><path d="M0 ${y(0)}H1000"/><polyline points="${line}"/></svg>`;
}

/** The last change of a curve, in a sentence. */
function changeOf(points: readonly Point[], currency: string, { zone }: TimeView): string {
  const [newest, oldest] = [points.at(-1), points[0]];
  if (!newest || !oldest) return 'No comparison.';
  const shown = (text: string) => displayAmount(text, currency, 'exceptZero');
  const last = points.findLastIndex((point) => point.drift !== newest.drift);
  const [before, since] = [points[last], points[last + 1]];
  return before && since
    ? `The drift went from ${shown(before.drift)} to ${shown(newest.drift)} at ${timeText(since.at, zone)}.`
    : `The drift is ${shown(newest.drift)} in every comparison since ${timeText(oldest.at, zone)}.`;
}

const pathOfOne = ({ rail, currency }: WalletComparisonView) => pathToWallet(`${rail}:${currency}`);

/** Those out of range first, then those without an explanation. */
const byUrgency = (wallets: readonly WalletComparisonView[]) => {
  const rank = ({ withinRange, finding }: WalletComparisonView) =>
    withinRange ? Number(finding === 'explained') : -1;
  return wallets.toSorted((one, other) => rank(one) - rank(other));
};

/** The latest comparison of every wallet, how its drift went, and which open payments are in it. */
export function walletTable({ times }: Visit, wallets: readonly WalletComparisonView[]): Html {
  const small = ({ course, currency }: WalletComparisonView) => {
    const points = (course ?? []).toReversed();
    return curve(points, changeOf(points, currency, times));
  };
  return tableOf(
    'The latest comparison of each wallet',
    byUrgency(wallets),
    [
      ['Wallet', (one) => link(pathOfOne(one), `${one.rail} ${one.currency}`)],
      ['At the rail', (one) => amount(one.railBalance, one.currency, pathOfOne(one)), 'number'],
      [
        'Our float',
        ({ rail, currency, float }) =>
          amount(float, currency, pathTo('account', `float:${rail}:${currency}`)),
        'number',
      ],
      ['Drift', (one) => amount(one.drift, one.currency, pathOfOne(one)), 'number'],
      wallets.some(({ course }) => course) && [
        'Drift so far',
        (one) => one.course && link(pathOfOne(one), small(one)),
      ],
      ['Finding', ({ withinRange, finding }) => (withinRange ? inWords(finding) : state('out_of_range'))],
      [
        'Open payments in it',
        ({ explainedBy, candidates }) =>
          [
            ...explainedBy.map((one) => linkTo('payment', one)),
            ...candidates.map(({ reference }) => html`perhaps ${linkTo('payment', reference)}`),
          ]
            .slice(0, EXPLAINED_SHOWN)
            .map((one) => html`<div>${one}</div>`),
      ],
      ['Compared', ({ at }) => age(at, times)],
    ],
    'No wallet was compared yet: the first comparison comes within minutes.',
  );
}
