import {
  type AccountStatementView,
  accountOperations,
  formatCsvRows,
  growsByDebits,
} from '@pesewa/contracts';
import {
  dayAt,
  describeAccount,
  inWords,
  nextDay,
  RefusedError,
  startOfDay,
  statedAccount,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters } from '../view/form.ts';
import { copyable, dash, type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { linkTo, pathTo, pathToWallet } from '../view/links.ts';
import { type Columns, facts, pager, tableOf } from '../view/table.ts';
import { amount, time } from '../view/values.ts';
import { momentOf, orMissing, part, type Routes, type Visit } from '../visits.ts';
import { orderLinks } from './order.ts';

type Item = AccountStatementView['items'][number];

const CSV_PAGE = { limit: 500 };

/** An account: its entries in a period with the running balance, and the same as CSV. */
export function addAccountPage(routes: Routes): void {
  routes.page('/ledger/accounts/:account', async (visit) => {
    const account = visit.part('account');
    const read = async () =>
      entries(visit, await orMissing(readStatement(visit, { cursor: visit.query('cursor') })));
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
  const from = boundOf(visit, 'from') ?? startOfDay(dayAt(nowMs, zone), zone).toISOString();
  const query = { account: visit.part('account'), from, to: boundOf(visit, 'to'), ...page };
  return visit.upstream.call('ledger', accountOperations.statement, { query });
}

/** A bound of the period; a day of `to` belongs to it. */
function boundOf(visit: Visit, name: 'from' | 'to'): string | undefined {
  const { zone } = visit.times;
  const day = visit.query(name)?.replace(/^(\d\d)\/(\d\d)\/(\d{4})$/, '$3-$2-$1') ?? '';
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return momentOf(visit, visit.query, name);
  const atMs = Date.parse(day);
  if (Number.isNaN(atMs) || !new Date(atMs).toISOString().startsWith(day))
    throw new RefusedError(`${name}: the calendar has no day ${visit.query(name)}`, 422);
  return startOfDay(name === 'to' ? nextDay(day) : day, zone).toISOString();
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
    suspense: [link(pathOf(['breaks'], { currency }), 'Breaks that may explain it')],
  };
  const about = kind === 'float' ? { rail: owner } : kind === 'wallet' ? { merchantId: owner } : {};
  const cost =
    kind === 'suspense' &&
    html`<p>No order books suspense to a rail's costs. If a rail has kept a fee that we do not know, explain the break and leave the sum here until the rail pays it back: then correct the float against suspense.</p>`;
  return html`<p class="actions">${link('/ledger', 'Trial balance')}${links[kind] ?? nothing}</p>${cost}${orderLinks(visit, { ...about, currency })}`;
}

function period({ part: partOf, query, times: { zone, nowMs } }: Visit): Html {
  const account = partOf('account');
  const dayBefore = (days: number) => dayAt(nowMs - days * 86_400_000, zone);
  const [from = dayBefore(0), to] = [query('from'), query('to')];
  const hint = 'A day, or a time';
  const fields = [
    { name: 'from', label: `From (${zone})`, value: from, hint },
    { name: 'to', label: 'To the end of', value: to, hint },
  ];
  const since = { Today: 0, '7 days': 6, '30 days': 29, 'A year': 364 };
  const links = Object.entries(since).map(([words, days]) =>
    link(pathTo('account', account, { from: dayBefore(days) }), words),
  );
  const csv = pathOf(['ledger', 'accounts', account, 'statement.csv'], { from, to });
  return html`${filters({ action: pathTo('account', account), label: 'Period', fields })}<p class="actions">${links}${link(csv, 'Save as CSV')}</p>`;
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
  const moved = (text: string | undefined, path: string) =>
    text === '0' ? dash : amount(text, currency, path);
  const columns: Columns<Item> = [
    ['Time', ({ at }) => time(at, times)],
    ['Entry', ({ kind }) => inWords(kind)],
    ['Other account', (item) => counterOf(item, account)],
    ...names.map(
      (name) =>
        [
          isOne ? 'Amount' : `${inWords(name)}, moved`,
          (item: Item) => moved(item.amount[name], referencePath(item)),
          'number',
        ] as const,
    ),
    ...names.map(
      (name) =>
        [
          isOne ? 'Balance' : inWords(name),
          (item: Item) => amount(item.balance[name], currency),
          'number',
        ] as const,
    ),
    ['Payment or order', (item) => copyable(item.reference, referencePath(item))],
    ['Caused by event', ({ causationId }) => copyable(causationId)],
  ];
  const known = facts([
    ['Before', sums(opening)],
    ['After', sums(closing)],
    ['Period', html`${time(from, times)} to ${time(to, times)}`],
    ['Final', final ? 'yes' : 'no: entries of this time may still come'],
    [
      'Positive amounts',
      growsByDebits(account) ? 'debits: what we own or spent' : 'credits: what we owe or earned',
    ],
  ]);
  const pages = pager({
    next,
    // The end is kept, so that what comes meanwhile does not move the pages.
    pathAfter: (cursor) => pathTo('account', account, { from, to, cursor }),
    isFirst: visit.query('cursor') === undefined,
    words: ['First entries', 'Later entries'],
  });
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
