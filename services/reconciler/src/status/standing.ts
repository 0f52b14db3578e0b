import { type Clock, sharedReading, withDeadline } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { METRIC_TIMEOUT_MS } from '../gauges.ts';
import type { WindowPayments } from '../matching/payments.ts';
import type { Audit } from '../steps/audit.ts';
import type { StepStore } from '../steps/store.ts';
import type { WalletStore } from '../wallets/store.ts';
import type { StatusStore } from './store.ts';

/** Where it is read. */
export interface StandingDeps {
  readonly statusStore: StatusStore;
  readonly wallets: Pick<WalletStore, 'wallets' | 'silent'>;
  readonly audit: Pick<Audit, 'show'>;
  readonly stepStore: Pick<StepStore, 'followed'>;
  readonly payments: Pick<WindowPayments, 'oldestUncompared'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A payment that is open for longer should be looked at: rails end them within minutes. */
const LONG_OPEN_MS = 3_600_000;
const POLL_OVERDUE_MS = 60_000;

const readParts = ({ statusStore, wallets, audit, stepStore, payments }: StandingDeps, nowMs: number) => ({
  open: statusStore.countOpen(),
  oldestOpen: statusStore.oldestOpen(new Date(nowMs - LONG_OPEN_MS)),
  silent: wallets.silent({ maxTimeMS: METRIC_TIMEOUT_MS }),
  polls: statusStore.duePolls(new Date(nowMs), new Date(nowMs - POLL_OVERDUE_MS)),
  breaks: statusStore.openBreaks(),
  comparison: wallets.wallets(undefined, { maxTimeMS: METRIC_TIMEOUT_MS }),
  coverage: audit.show(METRIC_TIMEOUT_MS),
  followed: stepStore.followed(METRIC_TIMEOUT_MS),
  awaitingLedger: statusStore.countAwaitingLedger(new Date(nowMs)),
  close: statusStore.lastClose(),
  uncompared: payments.oldestUncompared(),
});

type Reads = ReturnType<typeof readParts>;

/** What is open, due and broken, and what was last done, at a moment. A part that was not read in time is null and named in `unreported`. */
export type Standing = { readonly [Part in keyof Reads]: Awaited<Reads[Part]> | null } & {
  readonly at: Date;
  readonly unreported: string[];
};

/** Builds what reads the {@link Standing}: metrics and people get the same one, a few seconds old at most. */
export function createStanding(deps: StandingDeps): () => Promise<Standing> {
  const { clock, logger } = deps;
  const read = async () => {
    const at = new Date(clock.nowMs());
    const unreported: string[] = [];
    const parts = Object.entries(readParts(deps, at.getTime())).map(async ([name, asked]) => {
      const found = await withDeadline<unknown>(asked, METRIC_TIMEOUT_MS, clock).catch((error: unknown) => {
        logger.warn({ err: error, part: name }, 'a part of the status was not read in time');
        unreported.push(name);
        return null;
      });
      return [name, found] as const;
    });
    const found = Object.fromEntries(await Promise.all(parts)) as Omit<Standing, 'at' | 'unreported'>;
    return { ...found, at, unreported: unreported.toSorted() };
  };
  return sharedReading(clock, read);
}
