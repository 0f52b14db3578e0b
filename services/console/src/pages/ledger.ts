import {
  type AccountStatementView,
  accountOperations,
  formatCsvRows,
  growsByDebits,
  statusOperations,
} from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import {
  type CurrencySums,
  dayAt,
  describeAccount,
  inWords,
  startOfDay,
  statedAccount,
  sumsByCurrency,
  type TrialLine,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters } from '../view/form.ts';
import { copyable, dash, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, facts, pager, tableOf } from '../view/table.ts';
import { amount, time, withTimes } from '../view/values.ts';
import { momentOf, orMissing, part, type Routes, type Visit } from '../visits.ts';
import { orderLinks } from './order.ts';

type Item = AccountStatementView['items'][number];

const CSV_PAGE = { limit: 500 };
const ENTRIES_SHOWN = 50;

/** The books: every account on the side of its balance, and the statement of each. */
export function addLedgerPages(routes: Routes): void {
  routes.page('/ledger', async (visit) => {
    const lines = visit.upstream.call('ledger', accountOperations.trialBalance, {});
    const [books, checked] = await Promise.all([
      part(lines.then(({ items }) => trialBalance(items))),
      part(lastChecked(visit)),
    ]);
    const body = html`${section('Move money', orderLinks(visit))}${books}${section('Last checked against payments', checked)}`;
    return { title: 'Ledger', body } satisfies Page;
  });
  addAccountPages(routes);
}

function trialBalance(lines: readonly TrialLine[]): Html {
  const sums = sumsByCurrency(lines);
  if (sums.length === 0)
    return html`<p class="empty">Nothing is booked yet: the first order of money makes the first entry.</p>`;
  const differing = sums.flatMap(({ currency, debits, credits }) => (debits === credits ? [] : currency));
  const problem = `Debits and credits differ: ${differing.join(', ')}: run pesewa ledger verify`;
  const verdict =
    differing.length === 0
      ? html`<p class="done">Debits and credits are the same in every currency.</p>`
      : html`<p class="problem" role="alert">${problem}</p>`;
  return html`${verdict}${sums.map((one) => section(one.currency, currencyTable(one, lines)))}`;
}

function currencyTable({ currency, debits, credits }: CurrencySums, lines: readonly TrialLine[]): Html {
  const sum = (minor: bigint) => html`<strong>${amount(formatAmount(minor, currency), currency)}</strong>`;
  const rows = lines
    .filter((line) => line.currency === currency)
    .map(({ account, debit, credit }) => {
      const path = account.startsWith('wallets:')
        ? pathOf(['merchants'], { currency })
        : pathTo('account', account);
      const cell = (text: string) => (text === '0' ? dash : amount(text, currency, path));
      return [link(path, describeAccount(account)), cell(debit), cell(credit)] as const;
    });
  return tableOf(
    `Accounts in ${currency}, with all wallets as two sums`,
    [...rows, [html`<strong>In all</strong>`, sum(debits), sum(credits)] as const],
    [
      ['Account', ([account]) => account],
      ['Debit', ([, debit]) => debit, 'number'],
      ['Credit', ([, , credit]) => credit, 'number'],
    ],
    nothing,
  );
}

async function lastChecked({ upstream, times }: Visit): Promise<Html> {
  const { coverage } = await upstream.call('reconciler', statusOperations.show, {});
  if (!coverage?.at)
    return html`<p class="empty">Payments were never audited: the first audit comes within minutes.</p>`;
  const { at, status, found } = coverage;
  return facts([
    ['Payments audited', link('/reconciliation', time(at, times))],
    ['Result', `${status}, ${found} found`],
  ]);
}

/** An account: its entries in a period with the running balance, and the same as CSV. */
function addAccountPages(routes: Routes): void {
  routes.page('/ledger/accounts/:account', async (visit) => {
    const account = visit.part('account');
    const read = async () =>
      entries(
        visit,
        await orMissing(readStatement(visit, { cursor: visit.query('cursor'), limit: ENTRIES_SHOWN })),
      );
    const body = html`${section('What to do', actions(visit, account))}${section('Statement', html`${period(visit)}${await part(read())}`)}`;
    return { title: describeAccount(account), body };
  });
  routes.download('/ledger/accounts/:account/statement.csv', async (visit) => {
    const first = await readStatement(visit, CSV_PAGE);
    const name = `${first.account}_${first.from}_${first.to}`.replaceAll(/[^\w.-]/g, '-');
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
    };
    const bytes = ReadableStream.from(csvParts(visit, first)).pipeThrough(new TextEncoderStream());
    return new Response(bytes, { headers });
  });
}

/** Asks for a page of the statement from the start of the first day, or a time, to the end of the last day, or up to a time. */
async function readStatement(
  visit: Visit,
  page: { readonly to?: string; readonly cursor?: string | undefined; readonly limit?: number },
): Promise<AccountStatementView> {
  const { zone, nowMs } = visit.times;
  const from = momentOf(visit, visit.query, 'from') ?? startOfDay(dayAt(nowMs, zone), zone).toISOString();
  const query = {
    account: visit.part('account'),
    from,
    to: momentOf(visit, visit.query, 'to', 'end'),
    ...page,
  };
  return visit.upstream.call('ledger', accountOperations.statement, { query });
}

/** Where the account leads to, and the orders that may concern it. */
function actions(visit: Visit, account: string): Html {
  const [kind = '', owner = '', currency = owner] = account.split(':');
  const links: Readonly<Record<string, readonly Html[]>> = {
    float: [
      link(pathToWallet(`${owner}:${currency}`), 'Compared with the rail'),
      linkTo('rail', owner, `Rail ${owner}`),
    ],
    wallet: [linkTo('merchant', owner, `Merchant ${owner}`)],
    suspense: [link(pathOf(['breaks'], { currency, status: 'any' }), 'Breaks that may explain it')],
  };
  const about = kind === 'float' ? { rail: owner } : kind === 'wallet' ? { merchantId: owner } : {};
  const cost =
    kind === 'suspense' &&
    html`<p>No order books suspense to a rail's costs. If a rail has kept a fee that we do not know, explain the break and leave the sum here until the rail pays it back: then correct the float against suspense.</p>`;
  return html`<p class="actions">${link('/ledger', 'Trial balance')}${links[kind] ?? nothing}</p>${cost}${orderLinks(visit, { ...about, currency })}`;
}

function period({ part: partOf, query, times }: Visit): Html {
  const account = partOf('account');
  const dayBefore = (days: number) => dayAt(times.nowMs - days * 86_400_000, times.zone);
  const [from = dayBefore(0), to] = [query('from'), query('to')];
  const hint = 'Such as 27/11/2026, or 27/11/2026 14:05';
  const dayText = (bound: string) => bound.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$3/$2/$1');
  const fields = [
    { name: 'from', label: `From (${times.zone})`, value: dayText(withTimes(from, times)), hint },
    { name: 'to', label: 'To the end of', value: to && dayText(to), hint },
  ];
  const since = { Today: 0, '7 days': 6, '30 days': 29, 'A year': 364 };
  const links = Object.entries(since).map(([words, days]) =>
    link(pathTo('account', account, { from: dayBefore(days) }), words),
  );
  const csv = pathOf(['ledger', 'accounts', account, 'statement.csv'], { from, to });
  return html`${filters(() => undefined, { action: pathTo('account', account), label: 'Period', fields })}<p class="actions">${links}${link(csv, 'Save as CSV')}</p>`;
}

function entries(visit: Visit, statement: AccountStatementView | undefined): Html {
  if (!statement)
    return html`<p class="empty">No entry has touched this account yet: an order of money or a payment makes the first.</p>`;
  const { account, currency, opening, closing, items, next, from, to, final } = statement;
  const { times } = visit;
  const names = Object.keys(opening);
  const isOne = names.length === 1;
  const sums = (of: typeof opening) =>
    names.map((name) => html`${amount(of[name], currency)} ${isOne ? nothing : inWords(name)} `);
  const moved = (item: Item, name: string) =>
    item.amount[name] === '0' ? dash : amount(item.amount[name], currency, referencePath(item));
  const of = (title: string, cell: (item: Item) => Html) => [title, cell, 'number'] as const;
  const columns: Columns<Item> = [
    ['Time', ({ at }) => time(at, times)],
    ['Entry', ({ kind }) => inWords(kind)],
    ['Other account', (item) => counterOf(item, account)],
    ...names.map((name) => of(isOne ? 'Amount' : `${inWords(name)}, moved`, (item) => moved(item, name))),
    ...names.map((name) =>
      of(isOne ? 'Balance' : inWords(name), ({ balance }) => amount(balance[name], currency)),
    ),
    ['Payment or order', (item) => copyable(item.reference, referencePath(item))],
    ['Caused by event', (item) => copyable(item.causationId, referencePath(item))],
  ];
  const known = facts([
    ['Before', sums(opening)],
    ['After', sums(closing)],
    ['Period', html`${time(from, times)} to ${time(to, times)}`],
    ['Complete', final ? 'yes' : 'no: entries of this time may still come'],
    [
      'Positive amounts',
      growsByDebits(account) ? 'debits: what we own or spent' : 'credits: what we owe or earned',
    ],
  ]);
  // The end is kept, so that what comes meanwhile does not move the pages.
  const pages = pager(visit, next, (cursor) => pathTo('account', account, { from, to, cursor }));
  return html`${known}${tableOf('Entries, the oldest first', items, columns, 'No entry in this period: choose a longer one.')}${pages}`;
}

/** The account on the other side of an entry; undefined if the entry stays within this one. */
const otherOf = ({ debit, credit }: Item, account: string) =>
  [debit, credit].find((one) => one !== account && !one.startsWith(`${account}:`));

function counterOf(item: Item, account: string): Html {
  const other = otherOf(item, account);
  if (other === undefined) return html`within the wallet`;
  return linkTo('account', statedAccount(other), describeAccount(other));
}

/** Where the payment or the order of an entry is, by our reference. */
const referencePath = ({ reference }: Item) =>
  pathTo(/^[pc]o-/.test(reference) ? 'payment' : 'order', reference);

/** The statement as CSV, page by page. */
async function* csvParts(visit: Visit, first: AccountStatementView): AsyncIterable<string> {
  const { account, currency, from, to, opening } = first;
  const names = Object.keys(opening);
  const sums = (of: typeof opening) => names.map((name) => of[name] ?? '');
  const balance = (at: string, kind: string, of: typeof opening) =>
    formatCsvRows([[at, kind, '', '', '', currency, ...names.map(() => ''), ...sums(of)]]);
  const titles = names.map((name) => name.toUpperCase());
  const heading = ['AT', 'KIND', 'REFERENCE', 'COUNTER-ACCOUNT', 'CAUSE', 'CURRENCY'];
  yield formatCsvRows([[...heading, ...titles.map((title) => `${title} MOVED`), ...titles]]);
  yield balance(from, 'opening', opening);
  let page = first;
  for (;;) {
    yield formatCsvRows(
      page.items.map((item) => {
        const { at, kind, reference, causationId } = item;
        const cells = [at, kind, reference, otherOf(item, account) ?? '', causationId, currency];
        return [...cells, ...sums(item.amount), ...sums(item.balance)];
      }),
    );
    if (page.next === null) break;
    page = await readStatement(visit, { to, cursor: page.next, ...CSV_PAGE });
  }
  yield balance(to, 'closing', page.closing);
}
