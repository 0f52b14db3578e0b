import { DAY_MS } from '@pesewa/kernel';
import { exchange } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import type { Collection, Db, Document, MongoClient } from 'mongodb';
import { expect } from 'vitest';
import type { Crash } from './crash-runner.ts';
import type { Scenario } from './scenario.ts';

/** A record that a test reads directly from a service's database. */
type Stored = Document & { readonly _id: string };

/** A payout of 100 NGN that has completed. */
export interface EndedPayout {
  /** Our reference. */
  readonly reference: string;
  readonly endedAt: Date;
}

/** The body of an operator API's answer. */
type View = Readonly<Record<string, unknown>>;

/** A running stack with ended payouts, for the operator actions and audits of the tests. */
export interface CrashWorld {
  readonly scenario: Scenario;
  readonly records: (database: string, collection: string) => Collection<Stored>;
  /** Repeats a call of an operator API unchanged until it succeeds. */
  readonly insist: (call: OperatorCall) => Promise<View>;
  /** Reads from the reconciler's operator API. */
  readonly look: (path: string) => Promise<View>;
  /** The only break of a reference; fails if there is none or more than one. */
  readonly oneBreak: (reference: string) => Promise<View>;
  /** The next payout that no row has used. */
  readonly payout: () => EndedPayout;
  /** The next payout for which a close has found that the rail's fee differs. */
  readonly differing: () => EndedPayout;
  /** The next currency without movements. */
  readonly stillCurrency: () => string;
  /** Changes the fee in our own record, so that the rail's fee differs from it. */
  readonly injectFee: (payouts: readonly EndedPayout[]) => Promise<void>;
}

/** A call of an operator API; a GET if it has no body. */
interface OperatorCall {
  readonly service: 'reconciler' | 'ledger';
  readonly path: string;
  readonly body?: object | string;
  /** The second operator, who approves. */
  readonly as?: 'approver';
}

/** The expected result of an operator action, whichever process crashed meanwhile. */
export interface Done {
  /** Resolves once the action has had its effect exactly once. */
  readonly end: () => Promise<void>;
  /** All events of its breaks on reconciliation.events, as `event breakId`. */
  readonly events: readonly string[];
  /** The ids of the ledger commands that were sent. */
  readonly orders?: readonly string[];
}

/** Runs an action with the crash point armed, waits for the crash, and continues as operators would. */
export type Doing = (world: CrashWorld, crash: Crash, place: number) => Promise<Done>;

/** How long operators retry and wait: the service that they call may crash again and again. */
export const DEADLINE_MS = 240_000;

/** Lets the work continue; the returned function gives its result, or throws its error. */
export function meanwhile<Value>(work: Promise<Value>): () => Promise<Value> {
  work.catch(() => undefined);
  return () => work;
}

/** How many payouts the operator actions need. */
interface Wanted {
  readonly fresh: number;
  readonly differing: number;
}

/** Makes the payouts, and runs a close that finds those that differ. */
export async function openCrashWorld(
  scenario: Scenario,
  client: MongoClient,
  wanted: Wanted,
): Promise<CrashWorld> {
  const database = (name: string): Db => client.db(`${scenario.prefix}_${name}`);
  const records: CrashWorld['records'] = (name, collection) => database(name).collection<Stored>(collection);
  const { insist, look } = operators(scenario);
  const ended = await endPayouts(scenario, records, wanted);
  const differing = ended.slice(0, wanted.differing);
  const fresh = ended.slice(wanted.differing);
  const injectFee: CrashWorld['injectFee'] = async (payouts) => {
    const _id = { $in: payouts.map(({ reference }) => reference) };
    await records('reconciler', 'polls').updateMany({ _id }, { $set: { charged: 7n } });
  };
  await injectFee(differing);
  const body = { date: differing[0]?.endedAt.toISOString().slice(0, 10) };
  const close = await insist({ service: 'reconciler', path: '/closes', body });
  await eventually(async () => {
    expect(await look(`/closes/${String(close['id'])}`)).toMatchObject({
      status: 'done',
      results: { differs: wanted.differing },
    });
  }, DEADLINE_MS);
  return {
    scenario,
    records,
    insist,
    look,
    oneBreak: async (reference) => {
      const found = await scenario.stack.operator.breaks(reference);
      expect(found).toHaveLength(1);
      return found[0] ?? {};
    },
    payout: takeFrom(fresh),
    differing: takeFrom(differing),
    stillCurrency: takeFrom(['EGP', 'ZAR']),
    injectFee,
  };
}

/** Returns each item once. */
function takeFrom<Item>(items: readonly Item[]): () => Item {
  const left = items.values();
  return () => {
    const { value, done } = left.next();
    if (done) throw new RangeError('the operator actions take more than there is');
    return value;
  };
}

function operators({ stack }: Scenario): Pick<CrashWorld, 'insist' | 'look'> {
  const call = async ({ service, path, body, as }: OperatorCall): Promise<View> => {
    const { operations, operatorToken, approverToken } = stack.runFile();
    const answer = await exchange(`${operations[service]}${path}`, {
      headers: {
        authorization: `Bearer ${as === 'approver' ? approverToken : operatorToken}`,
        'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
      },
      ...(body !== undefined && {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    // Amounts are strings; the numbers in the body are counts and versions.
    return JSON.parse(answer.text) as View;
  };
  return {
    insist: (wanted) => eventually(() => call(wanted), DEADLINE_MS),
    look: (path) => call({ service: 'reconciler', path }),
  };
}

/** Makes payouts that have ended and are posted: those that differ on one past day, each other one on a day of its own. */
async function endPayouts(
  scenario: Scenario,
  records: CrashWorld['records'],
  { fresh, differing }: Wanted,
): Promise<readonly EndedPayout[]> {
  const wanted = fresh + differing;
  const references = Array.from({ length: wanted }, (_, index) => scenario.reference(`ended-${index}`));
  const ours = await Promise.all(references.map((reference) => payOut(scenario, reference)));
  const polls = records('reconciler', 'polls');
  await eventually(async () => {
    const ended = { _id: { $in: ours }, status: 'completed', posted: true };
    expect(await polls.countDocuments(ended)).toBe(wanted);
  }, DEADLINE_MS);
  const firstMs = Date.now() - (fresh + 1) * DAY_MS;
  const payouts = ours.map((reference, index) => ({
    reference,
    endedAt: new Date(firstMs + Math.max(0, index - differing + 1) * DAY_MS),
  }));
  await polls.bulkWrite(
    payouts.map(({ reference, endedAt }) => ({
      updateOne: { filter: { _id: reference }, update: { $set: { endedAt } } },
    })),
  );
  return payouts;
}

/** Requests a payout whose end only a poll finds, and returns our reference; with digits 0017 it never ends. */
export async function payOut(
  { demo }: Scenario,
  reference: string,
  digits: '0002' | '0017' = '0002',
): Promise<string> {
  const request = { reference, amount: '100', accountNumber: `012345${digits}` };
  const send = async () => expect(await demo.requestPayout(request)).toMatchObject({ responseCode: '09' });
  await eventually(send, DEADLINE_MS);
  return eventually(async () => {
    const { responseData } = await demo.lookUpPayout(reference);
    expect(responseData?.transactionReference).toMatch(/^po-/);
    return responseData?.transactionReference ?? '';
  });
}
