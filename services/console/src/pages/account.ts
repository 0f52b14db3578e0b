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
import { copyable, dash, type Html, link, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { facts, number, pager, table } from '../view/table.ts';
import { amount, time } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { accountPath, orderLinks } from './order.ts';

type Item = AccountStatementView['items'][number];

const CSV_PAGE = { limit: 500 };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** An account: its entries in a period with the running balance, and the same as CSV. */
export function addAccountPage(routes: Routes): void {
  routes.page('/ledger/accounts/:account', async (visit) => {
    const account = visit.part('account');
    const read = readStatement(visit, { ...periodOf(visit), cursor: visit.query('cursor') });
    const found = await part(read.catch(unlessMissing).then((statement) => entries(visit, statement)));
    const body = html`${section('What to do', actions(visit, account))}${section('Statement', html`${period(visit)}${found}`)}`;
    return { title: describeAccount(account), body };
  });
  routes.download('/ledger/accounts/:account/statement.csv', async (visit) => {
    const first = await readStatement(visit, { ...periodOf(visit), ...CSV_PAGE });
    const name = `${first.account}_${first.from}_${first.to}`.replaceAll(/[^\w.-]/g, '-');
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
    };
    const bytes = ReadableStream.from(csvParts(visit, first)).pipeThrough(new TextEncoderStream());
    return new Response(bytes, { headers });
  });
}

/** From the start of the first day, or a time, to the end of the last day, or up to a time. */
function periodOf({ query, times: { zone, nowMs } }: Visit) {
  const [from = dayAt(nowMs, zone), to] = [query('from'), query('to')];
  const startOf = (day: string) => startOfDay(day, zone).toISOString();
  return {
    from: DAY.test(from) ? startOf(from) : from,
    to: to !== undefined && DAY.test(to) ? startOf(nextDay(to)) : to,
  };
}

function readStatement(
  { upstream, part: partOf }: Visit,
  asked: {
    readonly from: string;
    readonly to: string | undefined;
    readonly cursor?: string | undefined;
    readonly limit?: number;
  },
) {
  return upstream.call('ledger', accountOperations.statement, {
    query: { account: partOf('account'), ...asked },
  });
}

/** Nothing, if what was asked for is not there. */
function unlessMissing(error: unknown): undefined {
  if (!(error instanceof RefusedError && error.status === 404)) throw error;
}

/** Where the account leads to, and the orders that may concern it. */
function actions(visit: Visit, account: string): Html {
  const [kind, owner = '', currency = owner] = account.split(':');
  const links = {
    float: [
      link(pathOf(['reconciliation', 'wallets', owner, currency]), 'Compared with the rail'),
      link(pathOf(['rails', owner]), `Rail ${owner}`),
    ],
    wallet: [link(pathOf(['merchants', owner]), `Merchant ${owner}`)],
    suspense: [link('/breaks?status=unresolved', 'Breaks that may explain it')],
  };
  const about = kind === 'float' ? { rail: owner } : kind === 'wallet' ? { merchantId: owner } : {};
  return html`<p class="actions">${link('/ledger', 'Trial balance')}${links[kind as keyof typeof links]}</p>${orderLinks(visit, { ...about, currency })}`;
}

function period({ part: partOf, query, times: { zone, nowMs } }: Visit): Html {
  const account = ['ledger', 'accounts', partOf('account')];
  const dayBefore = (days: number) => dayAt(nowMs - days * 86_400_000, zone);
  const [from = dayBefore(0), to] = [query('from'), query('to')];
  const field = (name: string, label: string, value = '') =>
    ({ name, label, value, type: value === '' || DAY.test(value) ? 'date' : 'text' }) as const;
  const since = ([words, days]: readonly [string, number]) =>
    link(pathOf(account, { from: dayBefore(days) }), words);
  const fields = [field('from', `From (${zone})`, from), field('to', 'To the end of', to)];
  return html`${filters({ action: pathOf(account), label: 'Period', fields })}
<p class="actions">${(
    [
      ['Today', 0],
      ['7 days', 6],
      ['30 days', 29],
      ['A year', 364],
    ] as const
  ).map(since)}${link(pathOf([...account, 'statement.csv'], { from, to }), 'Save as CSV')}</p>`;
}

function entries(visit: Visit, statement: AccountStatementView | undefined): Html {
  if (!statement)
    return html`<p class="empty">No entry has touched this account yet: an order of money or a payment makes the first.</p>`;
  const { account, currency, opening, closing, items, next, from, to, final } = statement;
  const names = Object.keys(opening);
  const titleOf = (name: string, otherwise: string) => (names.length === 1 ? otherwise : inWords(name));
  const sums = (of: typeof opening) =>
    names.map((name) => html`${amount(of[name], currency)} ${titleOf(name, '')} `);
  const moved = (text: string | undefined, path: string) =>
    text === '0' ? dash : amount(text, currency, path);
  const rows = items.map((item) => {
    const path = referencePath(item.reference);
    return [
      time(item.at, visit.times),
      inWords(item.kind),
      counterOf(item, account),
      ...names.map((name) => moved(item.amount[name], path)),
      ...names.map((name) => amount(item.balance[name], currency)),
      copyable(item.reference, path),
      copyable(item.causationId),
    ];
  });
  return html`${facts([
    ['Before', sums(opening)],
    ['After', sums(closing)],
    ['Period', html`${time(from, visit.times)} to ${time(to, visit.times)}`],
    ['Final', final ? 'yes' : 'no: entries of this time may still come'],
    [
      'Positive amounts',
      growsByDebits(account) ? 'debits: what we own or spent' : 'credits: what we owe or earned',
    ],
  ])}${table({
    caption: 'Entries, the oldest first',
    columns: [
      'Time',
      'Entry',
      'Other account',
      ...names.map((name) => number(`${titleOf(name, 'Amount')}${names.length === 1 ? '' : ', moved'}`)),
      ...names.map((name) => number(titleOf(name, 'Balance'))),
      'Payment or order',
      'Caused by event',
    ],
    rows,
    empty: 'No entry in this period: choose a longer one.',
  })}${pager({
    next,
    // The end is kept, so that what comes meanwhile does not move the pages.
    pathAfter: (cursor) => pathOf(['ledger', 'accounts', account], { from, to, cursor }),
    isFirst: visit.query('cursor') === undefined,
    words: ['First entries', 'Later entries'],
  })}`;
}

/** The account on the other side of an entry; undefined if the entry stays within this one. */
const otherOf = ({ debit, credit }: Item, account: string) =>
  [debit, credit].find((one) => one !== account && !one.startsWith(`${account}:`));

function counterOf(item: Item, account: string): Html {
  const other = otherOf(item, account);
  if (other === undefined) return html`within the wallet`;
  return link(accountPath(statedAccount(other)), describeAccount(other));
}

/** Where the payment or the order of an entry is, by our reference. */
const referencePath = (reference: string) =>
  pathOf(/^[pc]o-/.test(reference) ? ['payments', reference] : ['approvals', 'orders', reference]);

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
    page = await readStatement(visit, { from, to, cursor: page.next, ...CSV_PAGE });
  }
  yield balance(to, 'closing', page.closing);
}
