import { type Claimable, type Loop, startClaimLoop } from '@pesewa/messaging';
import type { NotSent } from '@pesewa/rails';
import { inTraceOf, type ServiceScope } from '@pesewa/runtime';
import type { Collection, Filter, WithId } from 'mongodb';
import type { Tracked } from '../domain/tracked.ts';
import { ask, type PollAnswer, type PolledRail } from './polled-rail.ts';

/** A record that is claimed in order to ask a rail about its payment. */
interface AskedRecord extends Claimable {
  /** When the rail was last asked, by the database's clock. */
  readonly askedAt?: Date;
}

/** The answer about a claimed record; `notSent`: our own limits kept us from asking. */
export interface Answered<Row> {
  readonly row: WithId<Row>;
  readonly reference: string;
  readonly claim: string;
  readonly answer: PollAnswer | NotSent;
  readonly askedAtMs: number;
}

type LoopOptions<Row extends Claimable> = Parameters<typeof startClaimLoop<Row>>[0];

/** What rails are asked about. */
export interface Asking<Row extends AskedRecord> {
  /** Names the loops. */
  readonly name: string;
  /** The crash points around each question. */
  readonly beforeCall: () => void;
  readonly afterCall: () => void;
  readonly collection: Collection<Row>;
  /** The field that names the rail to ask, by which records are claimed. */
  readonly railField: 'watch' | 'waits';
  /** How much may be asked at once; of no rail for the payments of rails that are not configured here. */
  readonly limitsOf: (
    rail?: PolledRail,
  ) => Pick<LoopOptions<Row>, 'batchMax' | 'concurrencyMax'> & Partial<LoopOptions<Row>>;
  readonly paymentOf: (row: WithId<Row>) => Promise<AskedPayment> | AskedPayment;
  /** Commits an answer; a record without one is due again after its lease. */
  readonly commit: (answered: Answered<Row>) => Promise<void>;
}

type AskedPayment = Pick<Tracked, 'reference' | 'terms' | 'traceparent'>;

const LEASE_FACTOR = 2;
const MARGIN_MS = 5_000;
/** For payments that no rail is asked about: they need only the database. */
const UNASKED_MS = 10_000;

const TOO_LATE = { kind: 'notSent', why: 'its turn came too late', retryAfterMs: 0 } as const;
/** The answer about a payment that is not known here. */
export const LOST = { kind: 'unaskable', why: 'the payment is not known here any more' } as const;

/**
 * Starts a claim loop for each rail, and one for rails that are not configured here: there should be none, and people are
 * shown them. Each asks outside any transaction: neither a slow rail nor its backlog delays another, and behind an open
 * circuit nothing is claimed, so that it stays due.
 *
 * A crash between the question and the commit loses nothing: the record is due again after its lease. Disposing waits
 * for the questions in progress.
 */
export function startAskLoops<Row extends AskedRecord>(
  deps: Pick<ServiceScope<object>, 'clock' | 'ids' | 'logger'> & {
    readonly rails: readonly PolledRail[];
    readonly pauseMs: number;
  },
  { name, beforeCall, afterCall, collection, railField, limitsOf, paymentOf, commit }: Asking<Row>,
) {
  const { clock, ids, logger, pauseMs } = deps;
  let isEnding = false;
  const start = (where: unknown, rail?: PolledRail) => {
    const workTimeoutMs = (rail?.capabilities.callDeadlineMs ?? UNASKED_MS) + MARGIN_MS;
    return startClaimLoop<Row>({
      name: `${name} ${rail?.name ?? 'other rails'}`,
      collection,
      open: { [railField]: where } as Filter<Row>,
      // A little before the rail is asked. Owners compare this time with their attempts, which are from the same clock,
      // so that our own clock can't make a NOT FOUND look newer than it is (ADR 5).
      claimTimeField: 'askedAt',
      leaseMs: workTimeoutMs * LEASE_FACTOR,
      workTimeoutMs,
      pauseMs,
      clock,
      ids,
      logger,
      ...(rail && { mayClaim: rail.isAvailable }),
      ...limitsOf(rail),
      work: async (row, claim, claimedAtMs) => {
        const { reference, terms, traceparent } = await paymentOf(row);
        const askedAtMs = row.askedAt?.getTime() ?? clock.nowMs();
        beforeCall();
        // A question must end within its lease.
        const isLate = isEnding || clock.nowMs() - claimedAtMs > workTimeoutMs;
        const question = async () => (terms ? ask(rail, reference, terms) : LOST);
        const answer = isLate ? TOO_LATE : await inTraceOf(traceparent ?? undefined, question);
        afterCall();
        return () => commit({ row, reference, claim, answer, askedAtMs });
      },
    });
  };
  const ofRails = new Map(deps.rails.map((rail) => [rail.name, start(rail.name, rail)]));
  const others = start({ $gt: '', $nin: [...ofRails.keys()] });
  const loopOf = (rail: string): Loop => ofRails.get(rail) ?? others;
  return {
    ofRails,
    wake: (rails: readonly string[]) => {
      for (const rail of rails) loopOf(rail).wake();
    },
    [Symbol.asyncDispose]: async () => {
      isEnding = true;
      await Promise.all([...ofRails.values(), others].map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}
