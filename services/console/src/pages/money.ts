import { accountOperations, comparisonOperations } from '@pesewa/contracts';
import { dayAt, describeAccount, startOfDay } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Html, link, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { tableOf } from '../view/table.ts';
import { amount } from '../view/values.ts';
import { part, type Visit } from '../visits.ts';
import { walletTable } from './wallet.ts';

/** The page that Today loads once it stands. */
export const MONEY = { path: '/money', title: "Wallets and yesterday's totals" } as const;

/** How the wallets at the rails stand, and what moved yesterday. */
export async function showMoney(visit: Visit): Promise<Page> {
  const drift = visit.upstream.call('reconciler', comparisonOperations.drift, { query: { courses: 'true' } });
  const [wallets, moved] = await Promise.all([
    part(drift.then(({ items }) => walletTable(visit, items))),
    part(yesterday(visit)),
  ]);
  const body = html`${section('Wallets at the rails against our floats', wallets, ['/reconciliation', 'Reconciliation'])}
${section("Yesterday's totals", moved, ['/reconciliation/closes', 'Daily closes'])}`;
  return { title: MONEY.title, body, everySeconds: 30 };
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
