import type { Messaging } from '@pesewa/messaging';
import type { Rail } from '@pesewa/rails';
import type { ServiceScope } from '@pesewa/runtime';
import { type FloatTotals, judgeLooks } from '../domain/drift.ts';
import type { MarkWaiting } from '../on-its-way.ts';
import type { RunDocument, WalletStore } from './store.ts';
import type { InFlight, PaymentsAtRail } from './suspects.ts';

/** The part of a rail that comparing its wallets needs. */
export type RailWallets = Pick<Rail, 'name' | 'balances'>;

/** The dependencies of looking at wallets. */
export interface LookDeps extends Pick<ServiceScope<object>, 'clock' | 'ids' | 'logger'> {
  readonly wallets: Pick<WalletStore, 'floats' | 'wallets' | 'noteAnswer'>;
  readonly payments: Pick<PaymentsAtRail, 'inFlight'>;
  readonly markWaiting: MarkWaiting;
  readonly messaging: Pick<Messaging, 'caughtUp'>;
  readonly pauseMs: number;
}

/** How many looks are taken before a drift counts: we may learn of a rail's movement only a moment later. */
const LOOKS_MAX = 3;
/** How long our projections may take to apply what was published when the rail answered. */
const CAUGHT_UP_TIMEOUT_MS = 10_000;
/** How long messages committed by then may take to reach Kafka. */
const SENT_TIMEOUT_MS = 10_000;
const SENT_PAUSE_MS = 100;
/** The services whose messages report incoming money: callbacks, collections, orders. */
const SENDERS = ['ingress', 'collections', 'ledger'] as const;
const OWN_TOPICS = ['payouts', 'collections', 'ledger'] as const;
const NO_FLOAT: FloatTotals = { credits: 0n, debits: 0n };
const NOT_IN_FLIGHT: InFlight = { mayDebit: 0n, mayCredit: 0n, payments: [] };

/** One answer of a rail, and the books around it; both by currency. */
interface Look extends Awaited<ReturnType<typeof readBooks>> {
  readonly at: Date;
  readonly before: ReadonlyMap<string, FloatTotals>;
  readonly reported: ReadonlyMap<string, bigint>;
}

/**
 * Looks at a rail's wallets, three times at most, until all are within range and no payment was posted during the look
 * that could hide a difference (ADR 28); nothing if the rail or our own topics don't answer. A wallet that stays out of
 * range is judged by books with everything that our services knew when the rail last answered; if those can't be had,
 * nothing is made of it.
 */
export async function lookAtWallets(deps: LookDeps, rail: RailWallets): Promise<readonly RunDocument[]> {
  const earlier: Look[] = [];
  let last = await look(deps, rail);
  if (!last) return [];
  const known = (await deps.wallets.wallets(rail.name)).map(({ currency }) => currency);
  const judged = (newest: Look) => runsOf(deps, rail.name, newest, earlier, known);
  let runs = judged(last);
  while (runs.some(isUnsettled) && earlier.length + 1 < LOOKS_MAX) {
    await deps.clock.sleep(deps.pauseMs);
    const next = await look(deps, rail);
    // Without another look a wallet out of range is not known to be, and one within it is as it was.
    if (!next) return runs.some(isOut) ? [] : runs;
    earlier.push(last);
    last = next;
    runs = judged(last);
  }
  if (!runs.some(isOut)) return runs;
  if (await isLevel(deps)) return judged({ ...last, ...(await readBooks(deps, rail)) });
  deps.logger.warn(
    { rail: rail.name, wallets: runs.filter(isOut).map(({ currency }) => currency) },
    'wallets are out of range, but what our services know is not all here: nothing is made of it yet',
  );
  return runs.filter((run) => !isOut(run));
}

function isOut({ withinRange }: Pick<RunDocument, 'withinRange'>): boolean {
  return !withinRange;
}

/** Whether another look may say more. */
function isUnsettled(run: RunDocument): boolean {
  return isOut(run) || run.finding === 'books_moved';
}

/** Asks a rail once; undefined if it or our own topics don't answer. */
async function look(deps: LookDeps, rail: RailWallets): Promise<Look | undefined> {
  const at = new Date(deps.clock.nowMs());
  const before = await deps.wallets.floats(rail.name);
  const balances = await rail.balances();
  await deps.wallets.noteAnswer(rail.name, at, balances.kind === 'unknown' ? balances.why : undefined);
  if (balances.kind === 'unknown') {
    deps.logger.warn(
      { rail: rail.name, why: balances.why },
      'the rail did not report its balances; nothing is compared',
    );
    return undefined;
  }
  if (!(await deps.messaging.caughtUp(OWN_TOPICS, CAUGHT_UP_TIMEOUT_MS))) {
    deps.logger.warn({ rail: rail.name }, 'our projections lag behind the topics; nothing is compared');
    return undefined;
  }
  const reported = new Map<string, bigint>();
  for (const { currency, minor } of balances.wallets)
    reported.set(currency, (reported.get(currency) ?? 0n) + minor);
  return { at, before, reported, ...(await readBooks(deps, rail)) };
}

async function readBooks({ payments, wallets }: LookDeps, { name }: RailWallets) {
  // In flight is read before floats: a payment posted in between counts twice, which only widens the range.
  const inFlight = await payments.inFlight(name);
  return { inFlight, after: await wallets.floats(name) };
}

/**
 * Waits until we have applied everything that our services knew at the call: what waited in their outboxes is in Kafka,
 * and we have applied it. False if that takes too long or can't be known.
 */
async function isLevel({ markWaiting, messaging, clock }: LookDeps): Promise<boolean> {
  const deadlineMs = clock.nowMs() + SENT_TIMEOUT_MS;
  for (const hasLeft of await Promise.all(SENDERS.map(markWaiting))) {
    let left = await hasLeft?.();
    while (left === false && clock.nowMs() < deadlineMs) {
      await clock.sleep(SENT_PAUSE_MS);
      left = await hasLeft?.();
    }
    if (left !== true) return false;
  }
  return messaging.caughtUp([...OWN_TOPICS, 'railCallbacks'], CAUGHT_UP_TIMEOUT_MS);
}

/** What looks say of every wallet that the rail or our books name, or that was ever compared. */
function runsOf(
  { ids }: Pick<LookDeps, 'ids'>,
  rail: string,
  last: Look,
  earlier: readonly Look[],
  known: readonly string[],
): readonly RunDocument[] {
  const currencies = new Set([...last.reported.keys(), ...last.after.keys(), ...known]);
  return [...currencies].toSorted().map((currency) => {
    const of = ({ at, before, reported, after, inFlight }: Look) => ({
      at,
      railBalance: reported.get(currency) ?? 0n,
      before: before.get(currency) ?? NO_FLOAT,
      after: after.get(currency) ?? NO_FLOAT,
      inFlight: inFlight.get(currency) ?? NOT_IN_FLIGHT,
    });
    const { look: seen, drift } = judgeLooks(of(last), earlier.map(of));
    const { at, railBalance } = seen;
    return { _id: ids.next('rn'), at, rail, currency, railBalance, ...drift, candidates: [] };
  });
}
