import {
  comparisonOperations,
  consumerGroups,
  deliveryOperations,
  parkedOperations,
  type StatusView,
  settingsOperations,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import { describeAccount, inWords, type Waiting } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { age, amount, count, state, time } from '../view/values.ts';
import { fromEach, orProblem, part, type Routes, type Visit } from '../visits.ts';
import { availabilityOf } from './availability.ts';
import { describePause, type Pause, pathOfResume, readPaused } from './pauses.ts';

const COUNT_MAX = 100;
const EXPLAINED_SHOWN = 5;

/** The first page: what needs a person, then how everything stands. */
export function addTodayPage(routes: Routes): void {
  routes.page('/', showToday);
}

async function showToday(visit: Visit): Promise<Page> {
  const { call } = visit.upstream;
  const status = call('reconciler', statusOperations.show, {});
  const drift = call('reconciler', comparisonOperations.drift, {});
  const paused = readPaused(visit);
  // Each part says by itself what it could not be given.
  for (const asked of [status, drift, paused]) asked.catch(() => undefined);
  const [forPeople, rails, open, wallets, runs] = await Promise.all([
    needsPeople(visit, status, paused),
    railsOf(visit, status, paused),
    part(status.then((found) => openPayments(visit, found))),
    part(drift.then(({ items }) => walletTable(visit, items))),
    part(status.then((found) => lastRuns(visit, found))),
  ]);
  const body = html`${section('Needs a person', forPeople)}
${section('Rails', rails, ['/rails', 'What waits at each rail'])}
${section('Open payments', open, ['/payments?status=open', 'All open payouts'])}
${section('Wallets at the rails against our floats', wallets, ['/reconciliation', 'Reconciliation'])}
${section('Last checked', runs, ['/rails/consumers', 'Where each service stands in its topics'])}`;
  return { title: 'Today', body, everySeconds: 30 };
}

/** How the rails do, as far as the services say it. */
async function railsOf(visit: Visit, asked: Promise<StatusView>, paused: Paused): Promise<Html> {
  const [[status], { pauses }] = await Promise.all([orProblem(asked), paused]);
  return availabilityOf(visit, { pauses, silent: status?.silent ?? null });
}

type Paused = ReturnType<typeof readPaused>;
type Lines = readonly Html[];

/** What waits for somebody, the most urgent first, each with a link to where it is dealt with; who is silent hides no other. */
async function needsPeople(visit: Visit, asked: Promise<StatusView>, paused: Paused): Promise<Html> {
  const { upstream } = visit;
  const reads = {
    reconciliation: async () => {
      const status = await asked;
      return [...ofReconciliation(visit, status), ...status.unreported.map(unknown)];
    },
    pauses: async () => ofPauses(visit, (await paused).pauses),
    waiting: async () => {
      const waiting = await upstream.waiting.read();
      return [...ofBooks(waiting), ...proposals(waiting), ...waiting.unreported.map(unknown)];
    },
    settings: async () => {
      const found = await countOf(
        upstream.list('ledger', settingsOperations.list, { status: 'proposed' }, COUNT_MAX),
      );
      return found.count === 0
        ? []
        : [html`For an approver: ${count(found, '/approvals')} changes of settings`];
    },
    endpoints: async () => {
      const { items } = await upstream.call('webhook-dispatcher', deliveryOperations.endpoints, {});
      const disabled = items.filter((one) => one.state === 'disabled');
      return disabled.map(
        ({ merchantId, failingSince }) =>
          html`Webhooks of ${linkTo('merchant', merchantId)} are kept: its ${link(pathOf(['webhooks'], { merchant: merchantId }), 'endpoint')} has failed for ${age(failingSince, visit.times)}`,
      );
    },
  };
  const [known, parked, { silent }] = await Promise.all([
    fromEach(Object.keys(reads) as (keyof typeof reads)[], (name): Promise<Lines> => reads[name]()),
    countParked(visit),
    paused,
  ]);
  const lines = [...known.found.flat(), ...parked.lines];
  const problems = [...known.problems, ...silent, ...parked.problems];
  const tasks =
    lines.length > 0
      ? html`<ul class="tasks">${lines.map((line) => html`<li>${line}</li>`)}</ul>`
      : problems.length === 0 && html`<p class="empty">Nothing waits for people.</p>`;
  return html`${problems}${tasks}`;
}

const unknown = (silent: string): Html =>
  html`What waits at ${silent} is not known: it gave no answer in time`;

const ofPauses = ({ times }: Visit, pauses: readonly Pause[]): Lines =>
  pauses.map(
    (one) =>
      html`${link(pathOfResume(one), `Paused: ${describePause(one)}`)} for ${age(one.pausedAt, times)} by ${one.pausedBy}: ${foreign(one.reason)}`,
  );

function ofReconciliation({ times }: Visit, status: StatusView): readonly Html[] {
  const { silent, comparison, breaks, open } = status;
  return [
    ...(silent ?? []).map(
      ({ rail, since, why }) =>
        html`${linkTo('rail', rail)} has given no answer for ${age(since, times)}: ${foreign(why)}`,
    ),
    ...(comparison?.outOfRange ?? []).map(
      (wallet) =>
        html`${link(pathToWallet(wallet), wallet)} differs from our float by more than open payments explain`,
    ),
    ...(comparison?.unexplained ?? []).map(
      ({ wallet, finding, since }) =>
        html`${link(pathToWallet(wallet), wallet)}: ${inWords(finding)} for ${age(since, times)}`,
    ),
    ...(breaks ?? []).map(
      ({ kind, count: number, oldestAt }) =>
        html`Breaks, ${inWords(kind)}: ${count({ count: number }, pathOf(['breaks'], { kind, status: 'unresolved' }))} open, the oldest for ${age(oldestAt, times)}`,
    ),
    ...(open ?? []).flatMap(({ kind, overdue }) =>
      overdue.count === 0
        ? []
        : [
            html`${count(overdue, pathOf(['payments'], { of: `${kind}s`, status: 'open' }))} ${kind}s are open for more than an hour: ${overdue.oldest.map(
              ({ reference, state: at, openedAt }) =>
                html`${linkTo('payment', reference)} (${inWords(at)}, ${age(openedAt, times)}) `,
            )}`,
          ],
    ),
  ];
}

/** Sums in suspense and floats that run low. */
function ofBooks({ suspense, lowFloats, givenUpWebhooks }: Waiting): readonly Html[] {
  const account = (name: string, currency: string) =>
    pathTo('account', name.endsWith(`:${currency}`) ? name : `${name}:${currency}`);
  return [
    ...(suspense ?? []).map(
      ({ account: name, currency, balance }) =>
        html`${amount(balance, currency, account(name, currency))} stands in suspense until somebody says where it belongs`,
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

function proposals({ orders, decisions }: Waiting): Lines {
  const lines = [
    [orders, 'orders of money'],
    [decisions, 'decisions on payments'],
  ] as const;
  return lines.flatMap(([found, what]) =>
    found === null || found.count === 0 ? [] : [html`For an approver: ${count(found, '/approvals')} ${what}`],
  );
}

async function countOf(
  reading: Promise<{ readonly items: readonly unknown[]; readonly hasMore: boolean }>,
): Promise<{ readonly count: number; readonly isCut: boolean }> {
  const { items, hasMore } = await reading;
  return { count: items.length, isCut: hasMore };
}

/** How many messages are parked at all services together. */
async function countParked({
  upstream,
}: Visit): Promise<{ readonly lines: Lines; readonly problems: Lines }> {
  const { found, problems } = await fromEach(consumerGroups, (service) =>
    countOf(upstream.list(service, parkedOperations.list, { state: 'parked' }, COUNT_MAX)),
  );
  const all = {
    count: found.reduce((sum, one) => sum + one.count, 0),
    isCut: found.some(({ isCut }) => isCut),
  };
  const line = html`${count(all, '/webhooks/parked')} messages that a service could not apply`;
  return { lines: all.count === 0 ? [] : [line], problems };
}

function openPayments({ times }: Visit, { open }: StatusView): Html {
  const rows = (open ?? []).flatMap(({ kind, states, count: all }) => [
    ...(all > 0 ? [{ kind, all }] : []),
    ...states.map((oldest) => ({ kind, oldest })),
  ]);
  return tableOf(
    'Open payments by state, with the oldest of each',
    rows,
    [
      ['Kind', ({ kind }) => `${kind}s`],
      [
        'State',
        (one) =>
          'oldest' in one
            ? state(one.oldest.state)
            : link(
                pathOf(['payments'], { of: `${one.kind}s`, status: 'open' }),
                html`${count({ count: one.all })} open in all`,
              ),
      ],
      ['Oldest', (one) => 'oldest' in one && linkTo('payment', one.oldest.reference)],
      ['Open for', (one) => 'oldest' in one && age(one.oldest.openedAt, times)],
    ],
    'No payment is open.',
  );
}

/** The latest comparison of every wallet, and which open payments are in its difference. */
export function walletTable({ times }: Visit, wallets: readonly WalletComparisonView[]): Html {
  const pathOfOne = ({ rail, currency }: WalletComparisonView) => pathToWallet(`${rail}:${currency}`);
  return tableOf(
    'The latest comparison of each wallet',
    wallets,
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
      ['Finding', ({ withinRange, finding }) => (withinRange ? inWords(finding) : state('out_of_range'))],
      [
        'By',
        ({ explainedBy }) =>
          explainedBy.slice(0, EXPLAINED_SHOWN).map((one) => html`<div>${linkTo('payment', one)}</div>`),
      ],
      ['Compared', ({ at }) => age(at, times)],
    ],
    'No wallet was compared yet: the first comparison comes within minutes.',
  );
}

function lastRuns({ times }: Visit, { comparison, coverage, close, uncompared, caughtUp }: StatusView): Html {
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
      close?.finishedAt
        ? html`${link('/reconciliation/closes', time(close.finishedAt, times))}: ${resultsOf(close.counts)}`
        : 'never',
    ],
    [
      'Oldest payment to compare',
      uncompared?.length === 0
        ? 'every ended payment is compared with its rail'
        : uncompared?.map(
            ({ rail, reference, endedAt }) =>
              html`<div>${linkTo('payment', reference)} at ${linkTo('rail', rail)} ended ${age(endedAt, times)} ago</div>`,
          ),
    ],
    [
      'Events',
      caughtUp === false ? 'not all that was published is applied yet' : 'all that was published is applied',
    ],
  ]);
}

const resultsOf = (counts: Readonly<Record<string, number>> | null): string =>
  Object.entries(counts ?? {})
    .flatMap(([result, found]) => (found > 0 ? [`${found.toLocaleString('en-GB')} ${inWords(result)}`] : []))
    .join(', ') || 'no payment to ask about';
