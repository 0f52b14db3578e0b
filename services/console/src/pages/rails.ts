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
import { ClientError, inWords, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { choiceField, problemOf } from '../view/form.ts';
import { type Content, copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { listOf } from '../view/list.ts';
import { type Columns, facts, tableOf, twoLines } from '../view/table.ts';
import { age, count, state, type TimeView, time, words } from '../view/values.ts';
import { choiceOf, isForbidden, only, part, type Routes, type Visit } from '../visits.ts';
import { type Pause, pausedLine, pauseTable, readPauses, stopsRail } from './pauses.ts';
import { walletTable } from './today.ts';

const SERVICE = 'webhook-ingress';
const FAILED_MAX = 100;
/** What the reconciler polls under this name is no rail: callbacks about payments that we do not know. */
const UNKNOWN_REFERENCE = 'unknown-reference';

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
  /** Those that stop payments of all merchants. */
  readonly pauses: readonly Pause[];
}

/** What a service gave, or nothing if it gave no answer: the page says so elsewhere. */
const unlessSilent = <Value>(asking: Promise<Value>): Promise<Value | undefined> =>
  asking.catch((error: unknown) => {
    if (!(error instanceof ClientError) || isForbidden(error)) throw error;
    return undefined;
  });

async function readRails(visit: Visit) {
  const { call } = visit.upstream;
  const [status, drift, payouts, collections] = await Promise.all([
    call('reconciler', statusOperations.show, {}),
    call('reconciler', comparisonOperations.drift, {}),
    unlessSilent(readPauses(visit, ['payouts'])),
    unlessSilent(readPauses(visit, ['collections'])),
  ]);
  const { polls, silent, open } = status;
  const named = [...(polls ?? []), ...(silent ?? []), ...drift.items].map(({ rail }) => rail);
  const names = [...new Set(named)].filter((name) => name !== UNKNOWN_REFERENCE);
  const rails = names.map(
    (name): Rail => ({
      name,
      polls: polls?.find(({ rail }) => rail === name),
      silent: silent?.find(({ rail }) => rail === name),
      wallets: drift.items.filter(({ rail }) => rail === name),
      pauses: [...(payouts ?? []), ...(collections ?? [])].filter((pause) => stopsRail(pause, name)),
    }),
  );
  return { rails, open: open ?? [] };
}

const pathOfWallet = ({ rail, currency }: WalletComparisonView) => pathToWallet(`${rail}:${currency}`);

/** The payments that have been open at a rail for longer than it takes. */
function lateAt({ wallets }: Rail): Html {
  const late = wallets.flatMap((one) =>
    one.overdue ? [html`${count(one.overdue, pathOfWallet(one))} in ${one.currency} `] : [],
  );
  return html`${late.length === 0 ? 'none' : late}`;
}

/** Whether a rail answers, and what is paused there. */
function stateOf(visit: Visit, { silent, pauses }: Rail): Html {
  const answers = silent
    ? html`${state('down')} for ${age(silent.since, visit.times)}: ${words(silent.why, visit.times)}`
    : pauses.length === 0 && state('up');
  const paused = pauses.map((pause) => html`<div>${pausedLine(visit, pause)}</div>`);
  return html`${answers}${paused}`;
}

async function showRails(visit: Visit): Promise<Page> {
  const [rails, pauses] = await Promise.all([part(railTable(visit)), pauseTable(visit)]);
  const pause = () =>
    html`<p class="actions">${link('/rails/pause', 'Pause everything, a rail or a merchant…')}</p>`;
  const body = html`${section('What waits', rails, ['/rails/consumers', 'Where each service stands in its topics'])}
${section('Paused', html`${pauses}${only(visit, 'operator', pause)}`)}`;
  return { title: 'Rails', body, everySeconds: 30 };
}

async function railTable(visit: Visit): Promise<Html> {
  const { rails, open } = await readRails(visit);
  const wallet = (one: WalletComparisonView) =>
    html`${link(pathOfWallet(one), one.currency)}${one.withinRange ? nothing : state('out_of_range')} `;
  const waiting = open.map(({ kind, count: many }) => {
    const path = pathOf(['payments'], { of: `${kind}s`, status: 'open' });
    return html`${count({ count: many }, path)} ${kind}s are open at all rails. `;
  });
  const shown = tableOf(
    'Each rail, and what waits there',
    rails,
    [
      ['Rail', ({ name }) => linkTo('rail', name)],
      ['State', (rail) => stateOf(visit, rail)],
      ['Open too long', lateAt],
      ['Polls due', ({ polls }) => pollsOf(polls, visit.times)],
      ['Wallets', ({ wallets }) => wallets.map(wallet)],
    ],
    'No rail is configured: name one in RAILS.',
  );
  return html`<p>${waiting}</p>${shown}`;
}

function pollsOf(polls: Rail['polls'], times: TimeView): Content {
  if (!polls) return dash;
  const { due, overdue, oldestDueAt } = polls;
  return twoLines(
    html`${due}, ${overdue} of them overdue`,
    oldestDueAt === null ? nothing : html`the oldest for ${age(oldestDueAt, times)}`,
  );
}

async function showRail(visit: Visit): Promise<Page> {
  const name = visit.part('name');
  const [rail, pauses, failed, rejected] = await Promise.all([
    findRail(visit, name),
    pauseTable(visit, name),
    part(failedCallbacks(visit, name)),
    rejectedRequests(visit, name),
  ]);
  const pause = (what: string) =>
    link(pathOf(['rails', 'pause'], { what, scope: 'rail', name }), `Pause ${what}…`);
  const actions = () => html`<p class="actions">${pause('payouts')} ${pause('collections')}</p>`;
  const body = html`${typeof rail === 'string' ? problemOf(rail) : section('What waits', standing(visit, rail))}
${section('Paused', html`${pauses}${only(visit, 'operator', actions)}`)}
${typeof rail === 'string' ? nothing : section('Wallets', walletTable(visit, rail.wallets))}
${section('Callbacks that we could not read', failed)}
${section('Requests that we refused', rejected)}`;
  const isPaused = typeof rail !== 'string' && rail.pauses.length > 0;
  return { title: `Rail ${name}${isPaused ? ': paused' : ''}`, body };
}

/** The rail, or why nothing is known of it. */
async function findRail(visit: Visit, name: string): Promise<Rail | string> {
  const read = await readRails(visit).catch((error: unknown) => {
    if (error instanceof RefusedError || !(error instanceof ClientError)) throw error;
    return messageOf(error);
  });
  if (typeof read === 'string') return read;
  const rail = read.rails.find((one) => one.name === name);
  if (rail) return rail;
  throw new RefusedError(`there is no rail ${name}`, 404);
}

function standing(visit: Visit, rail: Rail): Html {
  return facts([
    ['State', stateOf(visit, rail)],
    [
      'Configuration',
      rail.polls?.configured === false ? 'it was removed, and payments still wait for it' : undefined,
    ],
    ['Open for longer than it takes', lateAt(rail)],
    ['Polls due', pollsOf(rail.polls, visit.times)],
  ]);
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
      twoLines(
        time(String(receivedAt), times),
        `${kind}, ${deliveries} ${deliveries === 1 ? 'time' : 'times'}`,
      ),
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

function callbackOf({ part: of }: Visit) {
  return { what: choiceOf(of, 'what', ['redrive', 'dismiss']), parameters: { id: of('id') } };
}

/** What is done with a callback that could not be read, as long as it is one. */
async function askCallback(visit: Visit): Promise<Change> {
  const { what, parameters } = callbackOf(visit);
  const { items } = await failedOf(visit);
  const found = items.filter(({ id }) => id === parameters.id);
  const isDangerous = what === 'dismiss';
  return {
    title: `${isDangerous ? 'Dismiss' : 'Read'} callback ${parameters.id}${isDangerous ? '' : ' again'}?`,
    about: tableOf(
      'The callback',
      found,
      callbackColumns(visit.times),
      'It does not wait for a decision any more.',
    ),
    role: 'operator',
    submit:
      found.length === 0
        ? undefined
        : isDangerous
          ? 'Dismiss it: nothing is passed on, its bytes stay'
          : 'Read it again, and pass it on',
    isDangerous,
    back: [pathTo('rail', visit.part('name')), 'The rail'],
  };
}

function rejectedRequests(visit: Visit, rail: string): Promise<Html> {
  const { upstream, query, times } = visit;
  const reason = rejectionReasons.find((one) => one === query('reason'));
  return listOf<RejectedView>(visit, {
    path: ['rails', rail],
    caption: 'The newest first',
    fields: [choiceField(['reason', 'Reason'], rejectionReasons, reason, 'any')],
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
