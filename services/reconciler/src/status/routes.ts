import { statusOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { type WalletDocument, walletId } from '../wallets/store.ts';
import type { Standing } from './standing.ts';
import type { OpenBreaks, OpenPayment } from './store.ts';

/**
 * Adds the status: what is open, due and broken, and when it was last compared, as it was at its time `at`.
 *
 * A part that was not read in time is null and listed in `unreported`; the others are given all the same.
 *
 * @param railNames the rails that are configured
 */
export function addStatusRoutes(
  operator: Hono,
  {
    standing,
    railNames,
  }: { readonly standing: () => Promise<Standing>; readonly railNames: readonly string[] },
): void {
  const show = async () => {
    const found = await standing();
    const { at, silent, polls, breaks, comparison, coverage, close, uncompared, unreported } = found;
    return answer(200, {
      at: at.toISOString(),
      open: viewOpen(found),
      silent: silent && viewSilent(silent, railNames),
      polls: polls && viewPolls(polls, railNames, at),
      breaks: breaks && viewBreaks(breaks),
      breakSums: breaks && viewBreakSums(breaks),
      comparison: comparison && viewComparison(comparison, railNames),
      coverage: coverage && viewCoverage(coverage),
      close: close === null ? null : viewClose(close),
      uncompared: uncompared?.map(({ endedAt, ...one }) => ({ ...one, endedAt: text(endedAt) })) ?? null,
      unreported,
    });
  };
  serveOperations(operator, statusOperations, { show });
}

type Read<Part extends keyof Standing> = Exclude<Standing[Part], null>;

const text = (at: Date) => at.toISOString();

function viewOpen({ open, oldestOpen }: Standing) {
  if (!open || !oldestOpen) return null;
  const view = ({ openedAt, ...payment }: OpenPayment) => ({ ...payment, openedAt: text(openedAt) });
  return oldestOpen.map(({ kind, states, overdue: { count, oldest } }) => ({
    kind,
    count: open[kind],
    states: states.map(view),
    overdue: { count, oldest: oldest.map(view) },
  }));
}

/** The configured rails that give no answer. */
function viewSilent(silent: Read<'silent'>, railNames: readonly string[]) {
  return silent
    .filter(({ _id }) => railNames.includes(_id))
    .map(({ _id: rail, since, why }) => ({ rail, since: text(since), why }));
}

/** The polls of every polled rail, and of removed rails whose payments still wait. */
function viewPolls(polls: Read<'polls'>, railNames: readonly string[], at: Date) {
  const removed = polls.map(({ rail }) => rail).filter((rail) => !railNames.includes(rail));
  return [...railNames, ...removed].map((rail) => {
    const { due = 0, overdue = 0, dueAt } = polls.find((one) => one.rail === rail) ?? {};
    const oldestDueAt = dueAt && dueAt <= at ? text(dueAt) : null;
    return { rail, configured: railNames.includes(rail), due, overdue, oldestDueAt };
  });
}

/** How many breaks they are in all, and since when the oldest is. */
const inAll = (found: readonly OpenBreaks[]) => ({
  count: found.reduce((sum, { count }) => sum + count, 0),
  oldestAt: text(new Date(Math.min(...found.map(({ since }) => Number(since))))),
});

const viewBreaks = (breaks: Read<'breaks'>) =>
  [...Map.groupBy(breaks, ({ kind }) => kind)].map(([kind, found]) => ({ kind, ...inAll(found) }));

/** By how much the breaks of each currency differ, either way; null if a sum is not known. */
function viewBreakSums(breaks: Read<'breaks'>) {
  const byCurrency = [...Map.groupBy(breaks, ({ currency }) => currency)];
  return byCurrency
    .flatMap(([currency, found]) => {
      if (currency === null) return [];
      const amounts = found.flatMap((one) => one.amount ?? []);
      const sum = amounts.reduce((all, one) => all + one, 0n);
      const amount = amounts.length === found.length ? formatAmount(sum, currency) : null;
      const unknown = found.reduce((all, one) => all + one.unknown, 0);
      return [{ currency, amount, unknown, ...inAll(found) }];
    })
    .toSorted((one, other) => one.currency.localeCompare(other.currency));
}

/**
 * The oldest of all wallets' latest comparisons, so that none is older than shown. Wallets of rails that are no longer
 * configured are not compared, so they are listed separately.
 */
function viewComparison(all: Read<'comparison'>, railNames: readonly string[]) {
  const known = all.filter(({ rail }) => railNames.includes(rail));
  const [oldest = null] = known.map(({ latest }) => text(latest.at)).toSorted();
  const outOfRange = known.filter(({ latest }) => !latest.withinRange);
  return {
    at: oldest,
    wallets: known.length,
    outOfRange: outOfRange.map(walletId),
    unexplained: known.flatMap(unexplainedIn),
    removed: all
      .filter((wallet) => !known.includes(wallet))
      .map((wallet) => ({ wallet: walletId(wallet), withinRange: wallet.latest.withinRange })),
  };
}

function unexplainedIn(wallet: WalletDocument) {
  const { finding, unexplainedSince } = wallet.latest;
  if (finding === 'explained' || finding === 'out_of_range') return [];
  return [{ wallet: walletId(wallet), finding, since: unexplainedSince ? text(unexplainedSince) : null }];
}

/** The last audit of both gateways, and how many differences are followed at present. */
function viewCoverage(kinds: Read<'coverage'>) {
  const done = kinds.flatMap(({ doneAt }) => doneAt ?? []).toSorted();
  const running = kinds.find(({ status }) => status === 'running');
  const found = kinds.reduce((sum, { missing, ended, behind }) => sum + missing + ended + behind, 0);
  const at = done.length === kinds.length ? (done[0] ?? null) : null;
  return { at, status: running?.status ?? 'done', found };
}

const viewClose = (close: Read<'close'>) => ({
  to: close ? text(close.to) : null,
  finishedAt: close?.finishedAt ? text(close.finishedAt) : null,
  counts: close?.counts ?? null,
  late: close?.late ?? 0,
});
