import {
  accountOperations,
  comparisonOperations,
  type StatusView,
  statusOperations,
  waitingTellers,
} from '@pesewa/contracts';
import { dayAt, describeAccount, inWords, startOfDay } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { age, amount, count, counted, state, time } from '../view/values.ts';
import { orProblem, part, type Routes, type Visit } from '../visits.ts';
import { availabilityOf } from './availability.ts';
import { readHealth, SERVICES, type ServiceHealth } from './health.ts';
import { describePause, gateways, type Pause, pathOfResume, pausesOf, whats } from './pauses.ts';
import { walletTable } from './wallet.ts';

/** The first page: what needs a person, then how everything stands. */
export function addTodayPage(routes: Routes): void {
  routes.page('/', showToday);
}

async function showToday(visit: Visit): Promise<Page> {
  const { call } = visit.upstream;
  const status = call('reconciler', statusOperations.show, {});
  const drift = call('reconciler', comparisonOperations.drift, { query: { courses: 'true' } });
  const health = readHealth(visit);
  // Each part says by itself what it could not be given.
  for (const asked of [status, drift, health]) asked.catch(() => undefined);
  const [forPeople, rails, open, sums, moved, wallets, runs] = await Promise.all([
    needsPeople(visit, status, health),
    railsOf(visit, status, health),
    part(status.then((found) => openPayments(visit, found))),
    part(status.then((found) => breakSums(visit, found))),
    part(yesterday(visit)),
    part(drift.then(({ items }) => walletTable(visit, items))),
    part(Promise.all([status, health]).then(([found, { well }]) => lastRuns(visit, found, well))),
  ]);
  const body = html`${section('Needs a person', forPeople)}
${section('Rails', rails, ['/rails', 'What waits at each rail'])}
${section('Open payments', open, ['/payments?status=open', 'All open payouts'])}
${section('Open breaks by money', sums, ['/breaks', 'All breaks'])}
${section("Yesterday's totals", moved, ['/reconciliation/closes', 'Daily closes'])}
${section('Wallets at the rails against our floats', wallets, ['/reconciliation', 'Reconciliation'])}
${section('Services and checks', runs, [SERVICES, 'How each service stands'])}`;
  return { title: 'Today', body, everySeconds: 30 };
}

type Health = ReturnType<typeof readHealth>;
type Lines = readonly Html[];

/** How the rails do, as far as the services say it. */
async function railsOf(visit: Visit, asked: Promise<StatusView>, health: Health): Promise<Html> {
  const [[status], { found }] = await Promise.all([orProblem(asked), health]);
  return availabilityOf(visit, { pauses: found.flatMap(pausesAt), silent: status?.silent ?? null });
}

/** What waits for somebody, the most urgent first, each with a link to where it is dealt with; who is silent hides no other. */
async function needsPeople(visit: Visit, asked: Promise<StatusView>, health: Health): Promise<Html> {
  const [[status, problem], { found, lines: unwell, silent }] = await Promise.all([orProblem(asked), health]);
  const ofServices = [ofPauses, ofBooks, ofProposals, ofWebhooks, ofUnknown];
  const lines = [
    ...unwell,
    ...(status ? [...ofReconciliation(visit, status), ...status.unreported.map(unknown)] : []),
    ...ofServices.flatMap((of) => found.flatMap((one) => of(one, visit))),
  ];
  const tasks =
    lines.length > 0
      ? html`<ul class="tasks">${lines.map((line) => html`<li>${line}</li>`)}</ul>`
      : silent.length === 0 && !problem && html`<p class="empty">Nothing waits for people.</p>`;
  const asOf =
    status &&
    html`<p><small>Breaks, rails and open payments are as of ${time(status.at, visit.times)}.</small></p>`;
  return html`${silent}${problem}${tasks}${asOf}`;
}

const unknown = (silent: string): Html =>
  html`What waits at ${silent} is not known: it gave no answer in time`;

const ofUnknown = ({ service, waiting }: ServiceHealth): Lines => {
  const parts = Object.entries(waitingTellers).filter(([, tellers]) => tellers.includes(service));
  const isUnknown = parts.some(([part]) => (waiting[part as keyof typeof waiting] ?? null) === null);
  return isUnknown ? [unknown(service)] : [];
};

const pausesAt = ({ service, waiting }: ServiceHealth): readonly Pause[] =>
  whats.flatMap((what) => (gateways[what] === service ? pausesOf(what, waiting.pauses ?? []) : []));

const ofPauses = (health: ServiceHealth, { times }: Visit): Lines =>
  pausesAt(health).map(
    (one) =>
      html`${link(pathOfResume(one), `Paused: ${describePause(one)}`)} for ${age(one.pausedAt, times)} by ${one.pausedBy}: ${foreign(one.reason)}`,
  );

function ofReconciliation({ times }: Visit, status: StatusView): Lines {
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
        html`Breaks, ${inWords(kind)}: ${count({ count: number }, pathOf(['breaks'], { kind, status: 'unresolved' }))} open${number === 1 ? '' : ', the oldest'} for ${age(oldestAt, times)}`,
    ),
    ...(open ?? []).flatMap(({ kind, overdue }) =>
      overdue.count === 0
        ? []
        : [
            html`${link(pathOf(['payments'], { of: `${kind}s`, status: 'open' }), counted(overdue, `${kind} is open`, `${kind}s are open`))} for more than an hour: ${overdue.oldest.map(
              ({ reference, state: at, openedAt }) =>
                html`${linkTo('payment', reference)} (${inWords(at)}, ${age(openedAt, times)}) `,
            )}`,
          ],
    ),
  ];
}

/** Sums in suspense and floats that run low. */
function ofBooks({ waiting: { books } }: ServiceHealth): Lines {
  return [
    ...(books?.suspense ?? []).map(
      ({ account: name, currency, balance }) =>
        html`${amount(balance, currency, pathTo('account', name))} stands in suspense until somebody says where it belongs`,
    ),
    ...(books?.lowFloats ?? []).map(
      ({ account: name, currency, balance, held }) =>
        html`${describeAccount(name)} runs low: ${amount(balance, currency, pathTo('account', name))}, and open payouts hold ${amount(held, currency)}`,
    ),
  ];
}

function ofWebhooks({ waiting }: ServiceHealth, { times }: Visit): Lines {
  const { givenUpWebhooks: givenUp, disabledEndpoints } = waiting;
  const lost = givenUp && counted(givenUp, 'webhook was given up', 'webhooks were given up');
  return [
    ...(givenUp && lost && givenUp.count > 0
      ? [link(pathOf(['webhooks'], { state: 'exhausted' }), lost)]
      : []),
    ...(disabledEndpoints ?? []).map(
      ({ merchantId, failingSince }) =>
        html`Webhooks of ${linkTo('merchant', merchantId)} are kept: its ${link(pathOf(['webhooks'], { merchant: merchantId }), 'endpoint')} has failed for ${age(failingSince, times)}`,
    ),
  ];
}

function ofProposals({ waiting: { orders, decisions, settings } }: ServiceHealth): Lines {
  const lines = [
    [orders, 'order of money', 'orders of money'],
    [decisions, 'decision on a payment', 'decisions on payments'],
    [settings, 'change of settings', 'changes of settings'],
  ] as const;
  return lines.flatMap(([found, ...what]) =>
    found && found.count > 0
      ? [html`For an approver: ${link('/approvals', counted(found, what[0], what[1]))}`]
      : [],
  );
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

/** By how much the open breaks of each currency differ, either way. */
function breakSums({ times }: Visit, { breakSums: sums }: StatusView): Html {
  if (sums === null) return html`<p class="problem">The sums are not known: they were not read in time.</p>`;
  const pathOfBreaks = (currency: string) => pathOf(['breaks'], { currency, status: 'unresolved' });
  return tableOf(
    'By how much open breaks differ, either way',
    sums,
    [
      ['Currency', ({ currency }) => currency],
      ['Breaks', ({ count: all, currency }) => count({ count: all }, pathOfBreaks(currency))],
      ['Oldest', ({ oldestAt }) => age(oldestAt, times)],
      [
        'Sum',
        ({ amount: sum, currency, unknown: others }) =>
          html`${sum === null ? 'not known' : amount(sum, currency, pathOfBreaks(currency))}${others > 0 && `, and ${others} of an unknown amount`}`,
        'number',
      ],
    ],
    'No break is open.',
  );
}

/** What went into and out of our floats yesterday, and what we earned and paid in fees; each account leads to its entries. */
async function yesterday({ upstream, times }: Visit): Promise<Html> {
  const today = startOfDay(dayAt(times.nowMs, times.zone), times.zone);
  const day = dayAt(today.getTime() - 1, times.zone);
  const query = { from: startOfDay(day, times.zone).toISOString(), to: today.toISOString() };
  const { items } = await upstream.call('ledger', accountOperations.shared, { query });
  const rows = items
    .filter(({ account }) => /^(float|feeIncome|railCost):/.test(account))
    .map((one) => ({ ...one, path: pathOf(['ledger', 'accounts', one.account], { from: day, to: day }) }));
  return tableOf(
    `Debits and credits of ${day}`,
    rows,
    [
      ['Account', ({ account, path }) => link(path, describeAccount(account))],
      ['Debits', ({ turnover, currency, path }) => amount(turnover?.debits, currency, path), 'number'],
      ['Credits', ({ turnover, currency, path }) => amount(turnover?.credits, currency, path), 'number'],
    ],
    'No account has entries.',
  );
}

function lastRuns(
  { times }: Visit,
  { comparison, coverage, close, uncompared }: StatusView,
  well: readonly string[],
): Html {
  const never = (at: string | null | undefined) =>
    at === null || at === undefined ? 'never' : time(at, times);
  return facts([
    ['Services', link(SERVICES, well.join(', ') || 'not all is well: see what needs a person')],
    ['Wallets compared', never(comparison?.at)],
    ['Payments audited', html`${never(coverage?.at)}${coverage?.at ? html`, ${coverage.status}` : nothing}`],
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
  ]);
}

const resultsOf = (counts: Readonly<Record<string, number>> | null): string =>
  Object.entries(counts ?? {})
    .flatMap(([result, found]) => (found > 0 ? [`${found.toLocaleString('en-GB')} ${inWords(result)}`] : []))
    .join(', ') || 'no payment to ask about';
