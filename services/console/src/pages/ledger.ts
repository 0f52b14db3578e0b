import { accountOperations, statusOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { type CurrencySums, describeAccount, sumsByCurrency, type TrialLine } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { dash, type Html, link, nothing } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { amount, time } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { orderLinks } from './order.ts';

/** The books: every account on the side of its balance, with both sides the same in each currency. */
export function addLedgerPage(routes: Routes): void {
  routes.page('/ledger', async (visit) => {
    const lines = visit.upstream.call('ledger', accountOperations.trialBalance, {});
    const [books, checked] = await Promise.all([
      part(lines.then(({ items }) => trialBalance(items))),
      part(lastChecked(visit)),
    ]);
    const body = html`${section('Move money', orderLinks(visit))}${books}${section('Last checked against payments', checked)}`;
    return { title: 'Ledger', body } satisfies Page;
  });
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
      const path = account.startsWith('wallets:') ? '/merchants' : pathTo('account', account);
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
    ['Result', `${status ?? 'not finished'}, ${found} found`],
  ]);
}
