import {
  type CallbackView,
  callbackOperations,
  comparisonOperations,
  type RejectedView,
  rejectionReasons,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters, form } from '../view/form.ts';
import { dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, tableOf } from '../view/table.ts';
import { age, amount, count, state, time } from '../view/values.ts';
import { doOrShowAgain, part, type Routes, type Visit } from '../visits.ts';
import { type Paused, pauseTable, readPauses } from './pauses.ts';

const SERVICE = 'webhook-ingress';
const FAILED_MAX = 500;
/** What the reconciler polls under this name is no rail: callbacks about payments that we do not know. */
const UNKNOWN_REFERENCE = 'unknown-reference';

/** Each rail: what waits there, its wallets, its callbacks, and what is paused. */
export function addRailPages(routes: Routes): void {
  routes.page('/rails', showRails);
  routes.page('/rails/:name', (visit) => showRail(visit));
  routes.form('/rails/:name', (submission) => {
    const { upstream, field, part: partOf } = submission;
    const what = field('what') === 'dismiss' ? 'dismiss' : 'redrive';
    const id = field('id') ?? '';
    return doOrShowAgain(
      async () => {
        await upstream.call(SERVICE, callbackOperations[what], { parameters: { id } });
        return pathOf(['rails', partOf('name')]);
      },
      (problem) => showRail(submission, problem),
    );
  });
}

interface Rail {
  readonly name: string;
  readonly polls:
    | {
        readonly configured: boolean;
        readonly due: number;
        readonly overdue: number;
        readonly oldestDueAt: string | null;
      }
    | undefined;
  readonly silent: { readonly since: string; readonly why: string } | undefined;
  readonly wallets: readonly WalletComparisonView[];
  readonly pauses: readonly Paused[];
}

async function readRails(visit: Visit) {
  const { call } = visit.upstream;
  const [status, drift, pauses] = await Promise.all([
    call('reconciler', statusOperations.show, {}),
    call('reconciler', comparisonOperations.drift, {}),
    readPauses(visit),
  ]);
  const { polls, silent } = status;
  const names = new Set([...(polls ?? []).map(({ rail }) => rail), ...drift.items.map(({ rail }) => rail)]);
  names.delete(UNKNOWN_REFERENCE);
  const rails = [...names].map(
    (name): Rail => ({
      name,
      polls: polls?.find(({ rail }) => rail === name),
      silent: silent?.find(({ rail }) => rail === name),
      wallets: drift.items.filter(({ rail }) => rail === name),
      pauses: pauses.filter(
        ({ scope, name: paused }) => scope === 'all' || (scope === 'rail' && paused === name),
      ),
    }),
  );
  return { rails, pauses, open: status.open ?? [] };
}

const walletPath = ({ rail, currency }: WalletComparisonView) =>
  pathOf(['reconciliation', 'wallets', rail, currency]);

/** The payments that have been open at a rail for longer than it takes. */
function lateAt({ wallets }: Rail): Html {
  const late = wallets.flatMap((wallet) =>
    wallet.overdue ? [{ ...wallet.overdue, path: walletPath(wallet), currency: wallet.currency }] : [],
  );
  return late.length === 0
    ? html`none`
    : html`${late.map((one) => html`${count(one, one.path)} in ${one.currency} `)}`;
}

async function showRails(visit: Visit): Promise<Page> {
  const { times, may } = visit;
  const { rails, pauses, open } = await readRails(visit);
  const shown = tableOf(
    'Each rail, and what waits there',
    rails,
    [
      ['Rail', ({ name }) => link(pathOf(['rails', name]), name)],
      [
        'State',
        ({ silent }) => (silent ? html`${state('down')} for ${age(silent.since, times)}` : state('up')),
      ],
      ['Open too long', lateAt],
      ['Polls due', ({ polls }) => polls?.due ?? dash, 'number'],
      ['Overdue', ({ polls }) => polls?.overdue ?? dash, 'number'],
      ['Oldest due for', ({ polls }) => (polls?.oldestDueAt ? age(polls.oldestDueAt, times) : dash)],
      [
        'Wallets',
        ({ wallets }) =>
          wallets.map(
            (wallet) =>
              html`${link(walletPath(wallet), wallet.currency)}${wallet.withinRange ? nothing : state('out_of_range')} `,
          ),
      ],
      [
        'Paused',
        (one) => (one.pauses.length === 0 ? 'nothing' : one.pauses.map(({ what }) => what).join(', ')),
      ],
    ],
    'No rail is configured: name one in RAILS.',
  );
  const waiting = open.map(
    ({ kind, count: many }) =>
      html`${count({ count: many }, pathOf(['payments'], { kind, status: 'PENDING' }))} ${kind}s are open at all rails. `,
  );
  const body = html`${section('Rails', html`<p>${waiting}</p>${shown}`, ['/rails/consumers', 'Where each service stands in its topics'])}
${section('Paused', html`${pauseTable(visit, pauses)}${may('operator') ? html`<p class="actions">${link('/rails/pause', 'Pause everything, a rail or a merchant…')}</p>` : nothing}`)}`;
  return { title: 'Rails', body };
}

async function showRail(visit: Visit, problem?: string): Promise<Page> {
  const { times, may } = visit;
  const name = visit.part('name');
  const [{ rails }, failed, rejected] = await Promise.all([
    readRails(visit),
    part(failedCallbacks(visit, name, problem)),
    part(rejectedRequests(visit, name)),
  ]);
  const rail = rails.find((one) => one.name === name);
  if (!rail) throw new RefusedError(`there is no rail ${name}`, 404);
  const { silent, polls, wallets, pauses } = rail;
  const pause = (what: string) =>
    link(pathOf(['rails', 'pause'], { what, scope: 'rail', name }), `Pause ${what}…`);
  const body = html`${silent ? html`<p class="problem">It has given no answer for ${age(silent.since, times)}: ${foreign(silent.why)}</p>` : nothing}
${may('operator') ? html`<p class="actions">${pause('payouts')} ${pause('collections')}</p>` : nothing}
${section('Paused', pauseTable(visit, pauses))}
${section(
  'What waits',
  facts([
    [
      'Configured',
      polls?.configured === false ? 'no: it was removed, and payments still wait for it' : 'yes',
    ],
    ['Open for longer than it takes', lateAt(rail)],
    ['Polls due', polls?.due ?? 'not known'],
    ['Overdue', polls?.overdue ?? 'not known'],
    ['Oldest due', time(polls?.oldestDueAt, times)],
  ]),
)}
${section('Wallets', walletTable(visit, wallets))}
${section('Callbacks that we could not read', failed)}
${section('Requests that we refused', rejected)}`;
  return { title: `${name}: ${silent ? 'no answer' : 'answers'}`, body };
}

const walletTable = ({ times }: Visit, wallets: readonly WalletComparisonView[]): Html =>
  tableOf(
    'The latest comparison of each wallet',
    wallets,
    [
      ['Wallet', (one) => link(walletPath(one), one.currency)],
      ['At the rail', (one) => amount(one.railBalance, one.currency, walletPath(one)), 'number'],
      [
        'Our float',
        ({ rail, currency, float }) =>
          amount(float, currency, pathOf(['ledger', 'accounts', `float:${rail}:${currency}`])),
        'number',
      ],
      ['Drift', (one) => amount(one.drift, one.currency, walletPath(one)), 'number'],
      ['Finding', ({ withinRange, finding }) => (withinRange ? inWords(finding) : state('out_of_range'))],
      ['Compared', ({ at }) => age(at, times)],
    ],
    'None was compared yet: the first comparison comes within minutes.',
  );

async function failedCallbacks(visit: Visit, name: string, problem: string | undefined): Promise<Html> {
  const { upstream, times, may, csrf } = visit;
  const { items, hasMore } = await upstream.list(
    SERVICE,
    callbackOperations.list,
    { state: 'failed' },
    FAILED_MAX,
  );
  const action = pathOf(['rails', name]);
  const decide = ({ id }: CallbackView) =>
    html`<details><summary>Decide</summary>${form({ csrf, action, hidden: { what: 'redrive', id }, submit: 'Read it again, and pass it on' })}
${form({ csrf, action, hidden: { what: 'dismiss', id }, submit: 'Dismiss it: nothing is passed on, its bytes stay', isDangerous: true })}</details>`;
  const shown = tableOf(
    `The oldest first${hasMore ? `; of all rails, only the first ${FAILED_MAX} are looked at` : ''}`,
    items.filter(({ rail }) => rail === name),
    [
      ['Received', ({ receivedAt }) => time(String(receivedAt), times)],
      ['Kind', ({ kind }) => kind],
      ['Why', ({ failure }) => foreign(failure)],
      ['Proof', ({ verdict }) => (verdict.proven ? 'proven' : inWords(verdict.signature))],
      [
        'Payment',
        ({ reference }) =>
          reference === null ? 'not known' : link(pathOf(['payments', reference]), foreign(reference)),
      ],
      ['Times', ({ deliveries }) => deliveries, 'number'],
      ['Callback', ({ id }) => html`<code>${id}</code>`],
      ['To do', (one) => (may('operator') ? decide(one) : 'This takes the role operator.')],
    ],
    'Every callback could be read.',
  );
  return html`${problem === undefined ? nothing : html`<p class="problem" role="alert"><strong>Not done.</strong> ${problem}</p>`}${shown}`;
}

async function rejectedRequests({ upstream, query, times }: Visit, rail: string): Promise<Html> {
  const after = query('after');
  const reason = rejectionReasons.find((one) => one === query('reason'));
  const { items, next } = await upstream.call(SERVICE, callbackOperations.rejected, {
    query: { rail, reason, after },
  });
  const action = pathOf(['rails', rail]);
  const options = [['', 'any'], ...rejectionReasons.map((one) => [one, inWords(one)] as const)] as const;
  const shown = tableOf<RejectedView>(
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
    reason === undefined
      ? 'No request was refused.'
      : html`Nothing matches. ${link(action, 'Clear the filter')}`,
  );
  const pathAfter = (cursor: string | undefined) => pathOf(['rails', rail], { reason, after: cursor });
  return html`${filters({ action, label: 'Which requests', fields: [{ name: 'reason', label: 'Reason', value: reason, options }] })}${shown}${pager({ next, pathAfter, isFirst: after === undefined })}`;
}
