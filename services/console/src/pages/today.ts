import {
  comparisonOperations,
  consumerGroups,
  parkedOperations,
  type StatusView,
  settingsOperations,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { describeAccount, inWords, type Waiting } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, table } from '../view/table.ts';
import { age, amount, count, state, time } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';

const COUNT_MAX = 100;

/** The first page: what needs a person, then how everything stands. */
export function addTodayPage(routes: Routes): void {
  routes.page('/', showToday);
}

async function showToday(visit: Visit): Promise<Page> {
  const { call } = visit.upstream;
  const status = call('reconciler', statusOperations.show, {});
  const drift = call('reconciler', comparisonOperations.drift, {});
  // Each part says by itself what it could not be given.
  for (const asked of [status, drift]) asked.catch(() => undefined);
  const [forPeople, open, wallets, runs] = await Promise.all([
    part(needsPeople(visit, status)),
    part(status.then((found) => openPayments(visit, found))),
    part(drift.then(({ items }) => walletTable(visit, items))),
    part(status.then((found) => lastRuns(visit, found))),
  ]);
  const body = html`${section('Needs a person', forPeople)}
${section('Open payments', open, ['/payments', 'All payments'])}
${section('Wallets at the rails against our floats', wallets, ['/reconciliation', 'Reconciliation'])}
${section('Last checked', runs)}`;
  return { title: 'Today', body, everySeconds: 30 };
}

/** What waits for somebody, the most urgent first, each with a link to where it is dealt with. */
async function needsPeople(visit: Visit, asked: Promise<StatusView>): Promise<Html> {
  const [status, waiting, changes, parked] = await Promise.all([
    asked,
    visit.upstream.waiting.read(),
    countOf(visit.upstream.list('ledger', settingsOperations.list, { status: 'proposed' }, COUNT_MAX)),
    countParked(visit),
  ]);
  const lines = [
    ...ofReconciliation(visit, status),
    ...ofBooks(waiting),
    ...proposals(waiting, changes),
    ...(parked.count > 0
      ? [html`${count(parked, '/webhooks/parked')} messages that a service could not apply`]
      : []),
    ...[...status.unreported, ...waiting.unreported].map(
      (silent) => html`No answer about ${silent}: what waits there is not known`,
    ),
  ];
  if (lines.length === 0) return html`<p class="empty">Nothing waits for people.</p>`;
  return html`<ul class="tasks">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function ofReconciliation({ times }: Visit, status: StatusView): readonly Html[] {
  const { silent, comparison, breaks, open } = status;
  return [
    ...(silent ?? []).map(
      ({ rail, since, why }) =>
        html`${link(pathOf(['rails', rail]), rail)} has given no answer for ${age(since, times)}: ${why}`,
    ),
    ...(comparison?.outOfRange ?? []).map(
      (wallet) =>
        html`${link(walletPath(wallet), wallet)} differs from our float by more than open payments explain`,
    ),
    ...(comparison?.unexplained ?? []).map(
      ({ wallet, finding, since }) =>
        html`${link(walletPath(wallet), wallet)}: ${inWords(finding)} for ${age(since, times)}`,
    ),
    ...(breaks ?? []).map(
      ({ kind, count: number, oldestAt }) =>
        html`${count({ count: number }, pathOf(['breaks'], { kind, status: 'unresolved' }))} open breaks, ${inWords(kind)}, the oldest for ${age(oldestAt, times)}`,
    ),
    ...(open ?? []).flatMap(({ kind, overdue }) =>
      overdue.count === 0
        ? []
        : [
            html`${count(overdue)} ${kind}s are open for more than an hour: ${overdue.oldest.map(
              ({ reference, state: at, openedAt }) =>
                html`${link(pathOf(['payments', reference]), reference)} (${inWords(at)}, ${age(openedAt, times)}) `,
            )}`,
          ],
    ),
  ];
}

/** Sums in suspense and floats that run low. */
function ofBooks({ suspense, lowFloats, givenUpWebhooks }: Waiting): readonly Html[] {
  const account = (name: string, currency: string) =>
    pathOf(['ledger', 'accounts', name.endsWith(`:${currency}`) ? name : `${name}:${currency}`]);
  return [
    ...(suspense ?? []).map(
      ({ account: name, currency, balance }) =>
        html`${amount(balance, currency, account(name, currency))} in suspense that nothing explains`,
    ),
    ...(lowFloats ?? []).map(
      ({ account: name, currency, balance, held }) =>
        html`${describeAccount(name)} runs low: ${amount(balance, currency, account(name, currency))}, and open payouts hold ${amount(held, currency)}`,
    ),
    ...(givenUpWebhooks !== null && givenUpWebhooks.count > 0
      ? [html`${count(givenUpWebhooks, pathOf(['webhooks'], { state: 'exhausted' }))} webhooks were given up`]
      : []),
  ];
}

interface Counted {
  readonly count: number;
  readonly isCut: boolean;
}

function proposals({ orders, decisions }: Waiting, changes: Counted): readonly Html[] {
  const lines = [
    [orders, 'orders of money', 'orders'],
    [decisions, 'decisions on payments', 'decisions'],
    [changes, 'changes of settings', 'settings'],
  ] as const;
  return lines.flatMap(([found, what, tab]) =>
    found === null || found.count === 0
      ? []
      : [html`${count(found, `/approvals?of=${tab}`)} ${what} wait for another operator`],
  );
}

async function countOf(
  reading: Promise<{ readonly items: readonly unknown[]; readonly hasMore: boolean }>,
): Promise<Counted> {
  const { items, hasMore } = await reading;
  return { count: items.length, isCut: hasMore };
}

/** How many messages are parked at all services together. */
async function countParked({ upstream }: Visit): Promise<Counted> {
  const found = await Promise.all(
    consumerGroups.map((service) =>
      countOf(upstream.list(service, parkedOperations.list, { state: 'parked' }, COUNT_MAX)),
    ),
  );
  return {
    count: found.reduce((sum, one) => sum + one.count, 0),
    isCut: found.some(({ isCut }) => isCut),
  };
}

function openPayments({ times }: Visit, { open }: StatusView): Html {
  const rows = (open ?? []).flatMap(({ kind, states, count: number }) => [
    ...states.map((oldest) => [
      `${kind}s`,
      state(oldest.state),
      link(pathOf(['payments', oldest.reference]), oldest.reference),
      age(oldest.openedAt, times),
    ]),
    ...(number > 0
      ? [[html`<strong>${kind}s in all</strong>`, count({ count: number }), nothing, nothing]]
      : []),
  ]);
  return table({
    caption: 'Open payments by state, with the oldest of each',
    columns: ['Kind', 'State', 'Oldest', 'Open for'],
    rows,
    empty: 'No payment is open.',
  });
}

/** Where a wallet's comparisons are, by its name `rail:currency`. */
export function walletPath(wallet: string): string {
  const [rail = '', currency = ''] = wallet.split(':');
  return pathOf(['reconciliation', 'wallets', rail, currency]);
}

/** The latest comparison of every wallet. */
export function walletTable({ times }: Visit, wallets: readonly WalletComparisonView[]): Html {
  const number = (title: string) => ({ title, isNumber: true }) as const;
  return table({
    caption: 'The latest comparison of each wallet',
    columns: ['Wallet', number('At the rail'), number('Our float'), number('Drift'), 'Finding', 'Compared'],
    rows: wallets.map(({ rail, currency, railBalance, float, drift, finding, withinRange, at }) => {
      const wallet = walletPath(`${rail}:${currency}`);
      return [
        link(wallet, `${rail} ${currency}`),
        amount(railBalance, currency, wallet),
        amount(float, currency, pathOf(['ledger', 'accounts', `float:${rail}:${currency}`])),
        amount(drift, currency, wallet),
        withinRange ? inWords(finding) : state('out_of_range'),
        age(at, times),
      ];
    }),
    empty: 'No wallet was compared yet: the first comparison comes within minutes.',
  });
}

function lastRuns({ times }: Visit, { comparison, coverage, close, caughtUp }: StatusView): Html {
  const never = (at: string | null | undefined) =>
    at === null || at === undefined ? 'never' : time(at, times);
  return facts([
    ['Wallets compared', never(comparison?.at)],
    [
      'Payments audited',
      html`${never(coverage?.at)}${coverage?.status === null ? nothing : html`, ${coverage?.status}`}`,
    ],
    [
      'Last daily close',
      close?.finishedAt ? link('/reconciliation', time(close.finishedAt, times)) : 'never',
    ],
    [
      'Events',
      caughtUp === false ? 'not all that was published is applied yet' : 'all that was published is applied',
    ],
  ]);
}
