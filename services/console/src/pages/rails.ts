import {
  callbackOperations,
  comparisonOperations,
  rejectionReasons,
  type StatusView,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { ClientError, inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { choiceField, filters, form, problemOf } from '../view/form.ts';
import { dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, tableOf } from '../view/table.ts';
import { age, count, state, time } from '../view/values.ts';
import { choiceOf, doOrShowAgain, only, part, type Routes, type Visit } from '../visits.ts';
import { pauseTable } from './pauses.ts';
import { walletPath, walletTable } from './today.ts';

const SERVICE = 'webhook-ingress';
const FAILED_MAX = 500;
/** What the reconciler polls under this name is no rail: callbacks about payments that we do not know. */
const UNKNOWN_REFERENCE = 'unknown-reference';

/** Each rail: what waits there, its wallets, its callbacks, and what is paused. */
export function addRailPages(routes: Routes): void {
  routes.page('/rails', showRails);
  routes.page('/rails/:name', (visit) => showRail(visit));
  routes.form('/rails/:name', (submission) => {
    const { upstream, field } = submission;
    const work = async () => {
      const what = choiceOf(field, 'what', ['redrive', 'dismiss']);
      await upstream.call(SERVICE, callbackOperations[what], { parameters: { id: field('id') ?? '' } });
      return pathOf(['rails', submission.part('name')]);
    };
    return doOrShowAgain(work, (problem) => showRail(submission, problem));
  });
}

interface Rail {
  readonly name: string;
  readonly polls: NonNullable<StatusView['polls']>[number] | undefined;
  readonly silent: NonNullable<StatusView['silent']>[number] | undefined;
  readonly wallets: readonly WalletComparisonView[];
}

async function readRails({ upstream: { call } }: Visit) {
  const [status, drift] = await Promise.all([
    call('reconciler', statusOperations.show, {}),
    call('reconciler', comparisonOperations.drift, {}),
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
    }),
  );
  return { rails, open: open ?? [] };
}

const pathOfWallet = ({ rail, currency }: WalletComparisonView) => walletPath(`${rail}:${currency}`);

/** The payments that have been open at a rail for longer than it takes. */
function lateAt({ wallets }: Rail): Html {
  const late = wallets.flatMap((one) =>
    one.overdue ? [html`${count(one.overdue, pathOfWallet(one))} in ${one.currency} `] : [],
  );
  return html`${late.length === 0 ? 'none' : late}`;
}

async function showRails(visit: Visit): Promise<Page> {
  const [rails, pauses] = await Promise.all([part(railTable(visit)), part(pauseTable(visit))]);
  const pause = () =>
    html`<p class="actions">${link('/rails/pause', 'Pause everything, a rail or a merchant…')}</p>`;
  const body = html`${section('What waits', rails, ['/rails/consumers', 'Where each service stands in its topics'])}
${section('Paused', html`${pauses}${only(visit, 'operator', pause)}`)}`;
  return { title: 'Rails', body, everySeconds: 30 };
}

async function railTable(visit: Visit): Promise<Html> {
  const { times } = visit;
  const { rails, open } = await readRails(visit);
  const wallet = (one: WalletComparisonView) =>
    html`${link(pathOfWallet(one), one.currency)}${one.withinRange ? nothing : state('out_of_range')} `;
  const waiting = open.map(({ kind, count: many }) => {
    const path = pathOf(['payments'], { of: `${kind}s`, status: 'PENDING' });
    return html`${count({ count: many }, path)} ${kind}s are open at all rails. `;
  });
  const shown = tableOf(
    'Each rail, and what waits there',
    rails,
    [
      ['Rail', ({ name }) => link(pathOf(['rails', name]), name)],
      ['State', ({ silent }) => state(silent ? 'down' : 'up')],
      ['Silent for', ({ silent }) => (silent ? age(silent.since, times) : dash)],
      ['Open too long', lateAt],
      ['Polls due', ({ polls }) => polls?.due ?? dash, 'number'],
      ['Overdue', ({ polls }) => polls?.overdue ?? dash, 'number'],
      ['Oldest due for', ({ polls }) => (polls?.oldestDueAt ? age(polls.oldestDueAt, times) : dash)],
      ['Wallets', ({ wallets }) => wallets.map(wallet)],
    ],
    'No rail is configured: name one in RAILS.',
  );
  return html`<p>${waiting}</p>${shown}`;
}

async function showRail(visit: Visit, problem?: string): Promise<Page> {
  const name = visit.part('name');
  const [rail, pauses, failed, rejected] = await Promise.all([
    findRail(visit, name),
    part(pauseTable(visit, name)),
    part(failedCallbacks(visit, name)),
    part(rejectedRequests(visit, name)),
  ]);
  const pause = (what: string) =>
    link(pathOf(['rails', 'pause'], { what, scope: 'rail', name }), `Pause ${what}…`);
  const actions = () => html`<p class="actions">${pause('payouts')} ${pause('collections')}</p>`;
  const body = html`${problemOf(problem)}${typeof rail === 'string' ? problemOf(rail) : standing(visit, rail)}
${section('Paused', html`${pauses}${only(visit, 'operator', actions)}`)}
${typeof rail === 'string' ? nothing : section('Wallets', walletTable(visit, rail.wallets))}
${section('Callbacks that we could not read', failed)}
${section('Requests that we refused', rejected)}`;
  return { title: `Rail ${name}`, body };
}

/** The rail, or why nothing is known of it. */
async function findRail(visit: Visit, name: string): Promise<Rail | string> {
  const read = await readRails(visit).catch((error: unknown) => {
    if (error instanceof RefusedError || !(error instanceof ClientError)) throw error;
    return error.message;
  });
  if (typeof read === 'string') return read;
  const rail = read.rails.find((one) => one.name === name);
  if (rail) return rail;
  throw new RefusedError(`there is no rail ${name}`, 404);
}

function standing({ times }: Visit, rail: Rail): Html {
  const { silent, polls } = rail;
  const why =
    silent &&
    html`<p class="problem">It has given no answer for ${age(silent.since, times)}: ${foreign(silent.why)}</p>`;
  const isRemoved = polls?.configured === false;
  const waits = facts([
    ['State', state(silent ? 'down' : 'up')],
    ['Configuration', isRemoved ? 'it was removed, and payments still wait for it' : undefined],
    ['Open for longer than it takes', lateAt(rail)],
    ['Polls due', polls?.due ?? 'not known'],
    ['Overdue', polls?.overdue ?? 'not known'],
    ['Oldest due', time(polls?.oldestDueAt, times)],
  ]);
  return html`${why}${section('What waits', waits)}`;
}

async function failedCallbacks(visit: Visit, name: string): Promise<Html> {
  const { upstream, times, csrf } = visit;
  const query = { state: 'failed' } as const;
  const { items, hasMore } = await upstream.list(SERVICE, callbackOperations.list, query, FAILED_MAX);
  const button = (what: string, id: string, submit: string) =>
    form({
      csrf,
      action: pathOf(['rails', name]),
      hidden: { what, id },
      submit,
      isDangerous: what === 'dismiss',
    });
  const decide = (id: string) => () =>
    html`<details><summary>Decide</summary>${button('redrive', id, 'Read it again, and pass it on')}
${button('dismiss', id, 'Dismiss it: nothing is passed on, its bytes stay')}</details>`;
  return tableOf(
    `The oldest first${hasMore ? `; of all rails, only the first ${FAILED_MAX} are looked at` : ''}`,
    items.filter(({ rail }) => rail === name),
    [
      ['Received', ({ receivedAt }) => time(String(receivedAt), times)],
      ['Kind', ({ kind }) => kind],
      ['Why', ({ failure }) => foreign(failure)],
      ['Proof', ({ verdict }) => (verdict.proven ? 'proven' : inWords(verdict.signature))],
      [
        'Payment',
        ({ reference }) => (reference === null ? dash : link(pathOf(['payments', reference]), reference)),
      ],
      ['Times', ({ deliveries }) => deliveries, 'number'],
      ['Callback', ({ id }) => html`<code>${id}</code>`],
      ['To do', ({ id }) => only(visit, 'operator', decide(id))],
    ],
    'Every callback could be read.',
  );
}

async function rejectedRequests({ upstream, query, times }: Visit, rail: string): Promise<Html> {
  const after = query('after');
  const reason = rejectionReasons.find((one) => one === query('reason'));
  const asked = { query: { rail, reason, after } };
  const { items, next } = await upstream.call(SERVICE, callbackOperations.rejected, asked);
  const action = pathOf(['rails', rail]);
  const shown = tableOf(
    'The newest first',
    items,
    [
      ['Received', ({ receivedAt }) => time(String(receivedAt), times)],
      ['Kind', ({ kind }) => kind],
      ['Reason', (one) => inWords(one.reason)],
      ['Sender', ({ clientAddress }) => foreign(clientAddress)],
      ['Connection from', ({ peerAddress }) => foreign(peerAddress)],
      ['Forwarded for', ({ forwardedFor }) => foreign(forwardedFor)],
      ['Bytes', ({ bodyBytes }) => bodyBytes ?? dash, 'number'],
    ],
    reason === undefined ? 'None was refused.' : html`Nothing matches. ${link(action, 'Clear the filter')}`,
  );
  const pathAfter = (cursor: string | undefined) => pathOf(['rails', rail], { reason, after: cursor });
  const fields = [choiceField(['reason', 'Reason'], rejectionReasons, reason, 'any')];
  return html`${filters({ action, label: 'Which requests', fields })}${shown}${pager({ next, pathAfter, isFirst: after === undefined })}`;
}
