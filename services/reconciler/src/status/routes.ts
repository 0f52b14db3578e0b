import { statusOperations } from '@pesewa/contracts';
import { type Clock, formatAmount, withDeadline } from '@pesewa/kernel';
import { answer, type Logger, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { BreakStore } from '../breaks/store.ts';
import type { WindowPayments } from '../matching/payments.ts';
import type { Audit } from '../steps/audit.ts';
import type { WorkingStore } from '../store.ts';
import { type WalletDocument, type WalletStore, walletId } from '../wallets/store.ts';
import type { SilentRails } from './silent-rails.ts';
import type { OldestPayment, StatusStore } from './store.ts';

/** The sources of the status. */
export interface StatusRouteDeps {
  readonly store: Pick<WorkingStore, 'countOpen'>;
  readonly breaks: Pick<BreakStore, 'countOpen' | 'sumOpen'>;
  readonly wallets: Pick<WalletStore, 'wallets'>;
  readonly statusStore: StatusStore;
  readonly audit: Pick<Audit, 'show'>;
  readonly payments: Pick<WindowPayments, 'oldestUncompared'>;
  readonly silentRails: Pick<SilentRails, 'list'>;
  /** The rails that are configured. */
  readonly railNames: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long any part may take: people on call should not wait longer. */
const PART_TIMEOUT_MS = 1_500;
const OVERDUE_MS = 60_000;
/** A payment that is open for longer should be looked at: rails end them within minutes. */
const LONG_OPEN_MS = 3_600_000;

/**
 * Adds the status: what is open, due and broken, and when it was last compared.
 *
 * A part that is not answered in time is null and listed in `unreported`; the others are given all the same.
 */
export function addStatusRoutes(operator: Hono, deps: StatusRouteDeps): void {
  const { clock, logger } = deps;
  const show = async () => {
    const now = new Date(clock.nowMs());
    const unreported: string[] = [];
    const part = async <Value>(name: string, read: Promise<Value>): Promise<Value | null> => {
      try {
        return await withDeadline(read, PART_TIMEOUT_MS, clock);
      } catch (error) {
        logger.warn({ err: error, part: name }, 'a part of the status was not read in time');
        unreported.push(name);
        return null;
      }
    };
    const [open, silent, polls, breaks, breakSums, comparison, coverage, close, uncompared] =
      await Promise.all([
        part('open', readOpen(deps, now)),
        part('silent', readSilent(deps)),
        part('polls', readPolls(deps, now)),
        part('breaks', readBreaks(deps)),
        part('breakSums', readBreakSums(deps)),
        part('comparison', readComparison(deps)),
        part('coverage', readCoverage(deps)),
        part('close', readClose(deps)),
        part('uncompared', readUncompared(deps)),
      ]);
    const parts = {
      open,
      silent,
      polls,
      breaks,
      breakSums,
      comparison,
      coverage,
      close,
      uncompared,
    };
    return answer(200, { at: now.toISOString(), ...parts, unreported: unreported.toSorted() });
  };
  serveOperations(operator, statusOperations, { show });
}

const text = (at: Date | null) => at?.toISOString() ?? null;

async function readOpen({ store, statusStore }: StatusRouteDeps, now: Date) {
  const [counts, oldest] = await Promise.all([store.countOpen(), statusStore.oldestOpen()]);
  const before = new Date(now.getTime() - LONG_OPEN_MS);
  const view = ({ state, reference, openedAt }: OldestPayment) => ({
    state,
    reference,
    openedAt: openedAt.toISOString(),
  });
  return Promise.all(
    (['payout', 'collection'] as const).map(async (kind) => {
      const states = oldest.filter((one) => one.kind === kind);
      const isLate = states.some(({ openedAt }) => openedAt < before);
      const late = isLate ? await statusStore.overdueOpen(kind, before) : { count: 0, oldest: [] };
      return {
        kind,
        count: counts[kind],
        oldest: states[0] ? view(states[0]) : null,
        states: states.map(view),
        overdue: { count: late.count, oldest: late.oldest.map(view) },
      };
    }),
  );
}

/** The configured rails that give no answer. */
async function readSilent({ silentRails, railNames }: StatusRouteDeps) {
  const found = await silentRails.list();
  return found
    .filter(({ _id }) => railNames.includes(_id))
    .map(({ _id: rail, since, why }) => ({ rail, since: since.toISOString(), why }));
}

/** The polls of every polled rail, and of removed rails whose payments still wait. */
async function readPolls({ statusStore, railNames }: StatusRouteDeps, now: Date) {
  const overdueBefore = new Date(now.getTime() - OVERDUE_MS);
  const removed = (await statusStore.watched()).filter((rail) => !railNames.includes(rail));
  return Promise.all(
    [...railNames, ...removed].map(async (rail) => {
      const { due, overdue, oldestDueAt } = await statusStore.duePolls(rail, now, overdueBefore);
      return { rail, configured: railNames.includes(rail), due, overdue, oldestDueAt: text(oldestDueAt) };
    }),
  );
}

async function readBreaks({ breaks }: StatusRouteDeps) {
  const found = [...(await breaks.countOpen())].map(([kind, { count, since }]) => ({
    kind,
    count,
    oldestAt: text(since),
  }));
  return found.toSorted((one, other) => one.kind.localeCompare(other.kind));
}

async function readBreakSums({ breaks }: StatusRouteDeps) {
  const found = await breaks.sumOpen();
  return found.map(({ currency, amount, count, unknown, since }) => ({
    currency,
    amount: formatAmount(amount, currency),
    count,
    unknown,
    oldestAt: since.toISOString(),
  }));
}

/**
 * The oldest of all wallets' latest comparisons, so that none is older than shown. Wallets of rails that are no longer
 * configured are not compared, so they are listed separately.
 */
async function readComparison({ wallets, railNames }: StatusRouteDeps) {
  const all = await wallets.wallets(undefined, { maxTimeMS: PART_TIMEOUT_MS });
  const known = all.filter(({ rail }) => railNames.includes(rail));
  const [oldest = null] = known.map(({ latest }) => latest.at.toISOString()).toSorted();
  const outOfRange = known.filter(({ latest }) => !latest.withinRange);
  return {
    at: oldest,
    wallets: known.length,
    outOfRange: outOfRange.map(walletId),
    unexplained: known.flatMap(unexplainedIn),
    overdue: known.flatMap((wallet) => {
      const { overdue } = wallet.latest;
      if (!overdue) return [];
      const { count, isCut = false, oldestAt } = overdue;
      return [{ wallet: walletId(wallet), count, isCut, oldestAt: oldestAt.toISOString() }];
    }),
    removed: all
      .filter((wallet) => !known.includes(wallet))
      .map((wallet) => ({
        wallet: walletId(wallet),
        configured: false,
        withinRange: wallet.latest.withinRange,
      })),
  };
}

function unexplainedIn(wallet: WalletDocument) {
  const { finding, unexplainedSince = null } = wallet.latest;
  if (finding === 'explained' || finding === 'out_of_range') return [];
  return [{ wallet: walletId(wallet), finding, since: text(unexplainedSince) }];
}

/** The last audit of both gateways, and how many differences are followed at present. */
async function readCoverage({ audit }: StatusRouteDeps) {
  const kinds = await audit.show(PART_TIMEOUT_MS);
  const done = kinds.flatMap(({ doneAt }) => doneAt ?? []).toSorted();
  const running = kinds.find(({ status }) => status === 'running');
  const found = kinds.reduce((sum, { missing, ended, behind }) => sum + missing + ended + behind, 0);
  const at = done.length === kinds.length ? (done[0] ?? null) : null;
  return { at, status: running?.status ?? 'done', found };
}

async function readClose({ statusStore }: StatusRouteDeps) {
  const close = await statusStore.lastClose();
  return {
    to: close?.to.toISOString() ?? null,
    finishedAt: close?.finishedAt?.toISOString() ?? null,
    counts: close?.counts ?? null,
    late: close?.late ?? 0,
  };
}

/** Of each rail the payment that has waited longest to be compared by a close or a statement. */
async function readUncompared({ payments }: StatusRouteDeps) {
  const found = await payments.oldestUncompared();
  return found.map(({ endedAt, ...one }) => ({ ...one, endedAt: endedAt.toISOString() }));
}
