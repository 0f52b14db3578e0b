import {
  type CallbackView,
  callbackOperations,
  comparisonOperations,
  type RejectedView,
  rejectionReasons,
  type StatusView,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { choiceField } from '../view/form.ts';
import { type Content, copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, cells, facts, listOf, tableOf, twoLines } from '../view/table.ts';
import { age, counted, state, type TimeView, time, words } from '../view/values.ts';
import { choiceOf, only, orProblem, part, type Routes, type Visit } from '../visits.ts';
import { availabilityOf, stateOf } from './availability.ts';
import { SERVICES } from './health.ts';
import { type Pause, pausedLine, readPaused, stopsRail } from './pauses.ts';
import { walletTable } from './wallet.ts';

const SERVICE = 'webhook-ingress';
const FAILED_MAX = 100;

/** Each rail: what waits there, its wallets, its callbacks, and what is paused. */
export function addRailPages(routes: Routes): void {
  routes.page('/rails', showRails);
  routes.page('/rails/:name', showRail);
  addChange(routes, '/rails/:name/callbacks/:id/:what', askCallback, async (submission) => {
    const { what, parameters } = callbackOf(submission);
    await submission.upstream.call(SERVICE, callbackOperations[what], { parameters });
    return pathTo('rail', submission.part('name'));
  });
}

interface Rail {
  readonly name: string;
  readonly polls: NonNullable<StatusView['polls']>[number] | undefined;
  readonly silent: NonNullable<StatusView['silent']>[number] | undefined;
  readonly wallets: readonly WalletComparisonView[];
}

async function readRails({ upstream: { call } }: Visit) {
  const [{ polls, silent, open }, { items }] = await Promise.all([
    call('reconciler', statusOperations.show, {}),
    call('reconciler', comparisonOperations.drift, {}),
  ]);
  const named = [...(polls ?? []), ...(silent ?? []), ...items].map(({ rail }) => rail);
  const names = [...new Set(named)];
  const rails = names.map(
    (name): Rail => ({
      name,
      polls: polls?.find(({ rail }) => rail === name),
      silent: silent?.find(({ rail }) => rail === name),
      wallets: items.filter(({ rail }) => rail === name),
    }),
  );
  return { rails, silent, open: open ?? [] };
}

/** What is known of rails, and what is paused at them. */
const railColumns = (visit: Visit, pauses: readonly Pause[]): Columns<Rail> => [
  ['State', ({ name, silent }) => stateOf(visit, name, { pauses, silent: silent ? [silent] : [] })],
  ['Polls due', ({ polls }) => pollsOf(polls, visit.times)],
];

const pathOfWallet = ({ rail, currency }: WalletComparisonView) => pathToWallet(`${rail}:${currency}`);

function pollsOf(polls: Rail['polls'], times: TimeView): Content {
  if (!polls) return 'not known';
  const { due, overdue, oldestDueAt, configured } = polls;
  const oldest = oldestDueAt !== null && html`, the oldest for ${age(oldestDueAt, times)}`;
  const removed = configured ? nothing : 'The rail was removed, and payments still wait for it.';
  return twoLines(html`${due}, ${overdue} of them overdue${oldest}`, removed);
}

async function showRails(visit: Visit): Promise<Page> {
  const [[read, problem], { pauses, silent }] = await Promise.all([
    orProblem(readRails(visit)),
    readPaused(visit),
  ]);
  const wallet = (one: WalletComparisonView) =>
    html`${link(pathOfWallet(one), one.currency)}${one.withinRange ? nothing : state('out_of_range')} `;
  const open = read?.open.map(({ kind, count: many }) => {
    const path = pathOf(['payments'], { of: `${kind}s`, status: 'open' });
    return html`${link(path, counted(many, `${kind} is open`, `${kind}s are open`))} at all rails. `;
  });
  const rails = tableOf(
    'Each rail, and what waits there',
    read?.rails ?? [],
    [
      ['Rail', ({ name }) => linkTo('rail', name)],
      ...railColumns(visit, pauses),
      ['Wallets', ({ wallets }) => wallets.map(wallet)],
    ],
    'No rail is configured: name one in RAILS.',
  );
  const pause = () =>
    html`<p class="actions">${link('/rails/pause', 'Pause everything, a rail or a merchant…')}</p>`;
  const elsewhere = pauses.filter(({ scope }) => problem !== undefined || scope !== 'rail');
  const consumers = [SERVICES, 'How each service stands, also in its topics'] as const;
  const body = html`${section('What waits', problem ?? html`<p>${open}</p>${rails}`, consumers)}
${section('Paused', html`${silent}${elsewhere.map((one) => pausedLine(visit, one))}${only(visit, 'operator', pause)}`)}`;
  return { title: 'Rails', body, everySeconds: 30 };
}

async function showRail(visit: Visit): Promise<Page> {
  const name = visit.part('name');
  const [[read, problem], { pauses, silent }, failed, rejected] = await Promise.all([
    orProblem(readRails(visit)),
    readPaused(visit),
    part(failedCallbacks(visit, name)),
    rejectedRequests(visit, name),
  ]);
  const rail = read?.rails.find((one) => one.name === name);
  if (read && !rail) throw new RefusedError(`there is no rail ${name}`, 404);
  const pause = (what: string) =>
    link(pathOf(['rails', 'pause'], { what, scope: 'rail', name }), `Pause ${what}…`);
  const actions = () => html`<p class="actions">${pause('payouts')} ${pause('collections')}</p>`;
  const here = pauses.filter((one) => stopsRail(one, name));
  const measured = await availabilityOf(visit, { pauses, silent: read?.silent ?? null, only: name });
  const standing = rail
    ? facts(cells(railColumns(visit, here), rail))
    : [problem, here.map((one) => pausedLine(visit, one))];
  const body = html`${section('What waits', html`${standing}${silent}${only(visit, 'operator', actions)}`)}
${section('The last hour', measured)}
${rail ? section('Wallets', walletTable(visit, rail.wallets)) : nothing}
${section('Callbacks that we could not read', failed)}
${section('Requests that we refused', rejected)}`;
  return { title: `Rail ${name}${here.length === 0 ? '' : ': paused'}`, body };
}

const failedOf = ({ upstream }: Visit) =>
  upstream.list(SERVICE, callbackOperations.list, { state: 'failed' } as const, FAILED_MAX);

async function failedCallbacks(visit: Visit, name: string): Promise<Html> {
  const { items, hasMore } = await failedOf(visit);
  const todo = ({ id }: CallbackView) =>
    only(
      visit,
      'operator',
      () =>
        html`${link(pathOfCallback(name, id, 'redrive'), 'Read it again…')} ${link(pathOfCallback(name, id, 'dismiss'), 'Dismiss it…')}`,
    );
  const columns = callbackColumns(visit.times);
  return tableOf(
    `The oldest first${hasMore ? `; only the ${FAILED_MAX} oldest of all rails are looked at` : ''}`,
    items.filter(({ rail }) => rail === name),
    [['To do', todo], ...columns],
    hasMore
      ? `None of the ${FAILED_MAX} oldest of all rails is of this one: more come up as those are decided.`
      : 'Every callback could be read.',
  );
}

const callbackColumns = (times: TimeView): Columns<CallbackView> => [
  [
    'Received',
    ({ receivedAt, deliveries, kind }) =>
      twoLines(time(String(receivedAt), times), `${kind}, ${counted(deliveries, 'time')}`),
  ],
  [
    'Why',
    ({ failure, verdict }) =>
      twoLines(words(failure, times), verdict.proven ? 'proven' : inWords(verdict.signature)),
  ],
  ['Callback', ({ id, reference }) => twoLines(copyable(id), linkTo('payment', reference))],
];

const pathOfCallback = (rail: string, id: string, what: string) =>
  pathOf(['rails', rail, 'callbacks', id, what]);

const deeds = {
  redrive: { title: 'Read a callback again?', submit: 'Read it again, and pass it on' },
  dismiss: { title: 'Dismiss a callback?', submit: 'Dismiss it: nothing is passed on, its bytes stay' },
} as const;

const callbackOf = ({ part: of }: Visit) =>
  ({ what: choiceOf(of, 'what', ['redrive', 'dismiss']), parameters: { id: of('id') } }) as const;

/** What is done with a callback that could not be read, as long as it is one. */
async function askCallback(visit: Visit): Promise<Change> {
  const { what, parameters } = callbackOf(visit);
  const { items } = await failedOf(visit);
  const found = items.filter(({ id }) => id === parameters.id);
  const columns = callbackColumns(visit.times);
  return {
    title: deeds[what].title,
    about: tableOf('The callback', found, columns, 'It does not wait for a decision any more.'),
    submit: found.length === 0 ? undefined : deeds[what].submit,
    isDangerous: what === 'dismiss',
    back: [pathTo('rail', visit.part('name')), 'The rail'],
  };
}

function rejectedRequests(visit: Visit, rail: string): Promise<Html> {
  const { upstream, query, times } = visit;
  const reason = rejectionReasons.find((one) => one === query('reason'));
  return listOf<RejectedView>(visit, {
    path: ['rails', rail],
    caption: 'The newest first',
    fields: [choiceField('reason', 'Reason', rejectionReasons, 'any')],
    read: (after) => upstream.call(SERVICE, callbackOperations.rejected, { query: { rail, reason, after } }),
    columns: [
      ['Received', ({ receivedAt, kind }) => twoLines(time(String(receivedAt), times), kind)],
      ['Reason', (one) => inWords(one.reason)],
      [
        'Sender',
        ({ clientAddress, peerAddress, forwardedFor }) =>
          twoLines(
            foreign(clientAddress),
            html`over ${foreign(peerAddress)}, forwarded for ${foreign(forwardedFor)}`,
          ),
      ],
      ['Bytes', ({ bodyBytes }) => bodyBytes ?? dash, 'number'],
    ],
    empty: 'None was refused.',
  });
}
