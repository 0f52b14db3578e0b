import {
  type AvailabilityView,
  availabilityOperations,
  type RailAvailabilityView,
  type StatusView,
} from '@pesewa/contracts';
import { describeLength, describeRate, endedOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, dash, foreign, type Html, link, pathOf } from '../view/html.ts';
import { linkTo } from '../view/links.ts';
import { type Columns, tableOf, twoLines } from '../view/table.ts';
import { age, count, counted, state, timeText, words } from '../view/values.ts';
import { fromEach, type Visit } from '../visits.ts';
import { gateways, type Pause, pausedLine, stopsRail, type What, whats } from './pauses.ts';

type Silent = NonNullable<StatusView['silent']>[number];
type Row = RailAvailabilityView & Pick<AvailabilityView, 'at' | 'from'> & { readonly what: What };

/** Whether a rail answers, and what is paused there; where nobody says whether it answers, its state is not known. */
export function stateOf(
  visit: Visit,
  name: string,
  { silent, pauses }: { readonly silent: readonly Silent[] | null; readonly pauses: readonly Pause[] },
): Html {
  const here = pauses.filter((pause) => stopsRail(pause, name));
  const down = silent?.find(({ rail }) => rail === name);
  const answers = down
    ? html`${state('down')} for ${age(down.since, visit.times)}: ${words(down.why, visit.times)}`
    : here.length === 0 && (silent === null ? 'not known' : state('up'));
  return html`${answers}${here.map((pause) => pausedLine(visit, pause))}`;
}

/** How payments of the last hour ended at each rail and mobile operator, or at one rail; each number leads to its payments. */
export async function availabilityOf(
  visit: Visit,
  { only, ...known }: Parameters<typeof stateOf>[2] & { readonly only?: string },
): Promise<Html> {
  const { found, problems } = await fromEach(whats, async (what) => ({
    what,
    ...(await visit.upstream.call(gateways[what], availabilityOperations.show, {})),
  }));
  const rows = found.flatMap(({ what, at, from, items }) =>
    items.map((item) => ({ ...item, what, at, from })),
  );
  // A whole rail is paused or silent, so it is said once.
  const stands = ({ rail, operatorCode, what }: Row) =>
    operatorCode === null &&
    stateOf(visit, rail, { ...known, pauses: known.pauses.filter((pause) => pause.what === what) });
  const columns: Columns<Row> = [
    ['Payments', (row) => link(pathOfRow(row), row.what)],
    ['Rail', ({ rail, operatorCode }) => html`${linkTo('rail', rail)} ${operatorCode}`],
    ['State', stands],
    ['Succeeded', succeeded],
    ['Took', took],
    ['Fails most', failsMost],
    ['Open too long', lateAt],
  ];
  const [idle = [], shown = []] = [true, false].map((wanted) =>
    rows.filter((row) => (only === undefined || row.rail === only) && isIdle(row) === wanted),
  );
  const caption = 'By rail, and for collections by mobile operator';
  const table = html`${tableOf(caption, shown, columns, 'No payments go there.')}${
    idle.length > 0 &&
    html`<details><summary>${counted(idle.length, 'more mobile operator')} without payments in the last hour</summary>${tableOf('Without payments in the last hour', idle, columns.slice(0, 2), '')}</details>`
  }`;
  const text = (at: string) => timeText(at, visit.times.zone);
  const times = found.map(
    ({ what, at, from, isSample }) =>
      html`${what} accepted from ${text(from)} to ${text(at)}${isSample && ': a sample, because there are too many'}<br>`,
  );
  return html`${problems}${found.length > 0 && table}<p><small>${times}</small></p>`;
}

/** Whether a row is of a mobile operator of which there is nothing to say. */
const isIdle = (row: Row): boolean =>
  row.operatorCode !== null && endedOf(row) === 0 && row.openTooLong.count === 0 && !row.openTooLong.isCut;

/** The path of the payments that a row is of; those that are open may be older than the row's time. */
function pathOfRow({ what, rail, operatorCode, from, at }: Row, status?: string): string {
  const within = status === 'open' ? {} : { from, to: at };
  return pathOf(['payments'], { of: what, rail, operator: operatorCode ?? undefined, status, ...within });
}

function succeeded(row: Row): Content {
  const completed = count({ count: row.completed }, pathOfRow(row, 'COMPLETED'));
  const of = html`${completed} of ${count({ count: endedOf(row) }, pathOfRow(row))}`;
  return twoLines(link(pathOfRow(row), describeRate(row.successRate)), of);
}

function took(row: Row): Content {
  const within = (part: string, ms: number) => link(pathOfRow(row), `${part} within ${describeLength(ms)}`);
  const { medianMs, p95Ms } = row;
  return medianMs === null || p95Ms === null
    ? dash
    : twoLines(within('half', medianMs), within('95 of 100', p95Ms));
}

function failsMost(row: Row): Content {
  const {
    topFailure,
    failed: { customer, rail, other },
    reversed,
  } = row;
  const back = reversed > 0 && link(pathOfRow(row, 'REVERSED'), `${reversed} reversed after completion`);
  if (topFailure === null) return back || dash;
  const path = pathOfRow(row, 'FAILED');
  const whose = link(path, `${customer} by the customer, ${rail} by the rail, ${other} not told`);
  return twoLines(
    html`${count(topFailure, path)} ${foreign(topFailure.reason)}`,
    back ? twoLines(whose, back) : whose,
  );
}

function lateAt(row: Row): Content {
  const { count: late, isCut, afterMs } = row.openTooLong;
  if (late === 0) return isCut ? 'not known: too many are open' : 'none';
  return twoLines(count(row.openTooLong, pathOfRow(row, 'open')), `for ${describeLength(afterMs)}`);
}
