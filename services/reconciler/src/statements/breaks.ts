import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import { type BreakStore, pagesOfBreaks } from '../breaks/store.ts';
import type { Break, FoundBreak } from '../domain/break.ts';
import { breakId, observe } from '../domain/observing.ts';
import type { WorkingStore } from '../store.ts';
import { breaksOfRecords, withdrawalsOf } from './findings.ts';
import { rereadWithdrawals } from './rereading.ts';
import { linesAbout, type RecordDocument, type StatementDocument, type StatementStore } from './store.ts';

/** Opens the breaks of a matched statement, and closes those that it explains. */
export type StatementBreaks = (statement: StatementDocument, keep: () => Promise<void>) => Promise<void>;

/** The dependencies of {@link createStatementBreaks}. */
export interface StatementBreakDeps {
  readonly statementStore: StatementStore;
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** How many breaks one statement may open. */
  readonly openMax: number;
  readonly clock: Clock;
}

const RECORDS_PER_STEP = 200;
/** Once the limit of breaks is reached, further records are only marked. */
const NOTED_PER_STEP = 1_000;

/** The results that may lead to a break, in the order in which they are handled. */
const breakResults = ['differs', 'not_on_statement', 'not_in_books', 'duplicate'] as const;

/** What is updated in one transaction: records that may open breaks, or breaks that may be explained. */
type Step = { readonly statement: StatementDocument } & (
  | { readonly records: readonly RecordDocument[] }
  | { readonly breaks: readonly Break[] }
);

/** Builds {@link StatementBreaks}. */
export function createStatementBreaks(deps: StatementBreakDeps): StatementBreaks {
  const take = commitEach(deps.messaging, 'reconciler.statement-breaks', async (step: Step, transaction) => {
    if ('records' in step) return open(deps, step.statement, step.records, transaction);
    await close(deps, step.statement, step.breaks, transaction);
    return true;
  });
  return async (statement, keep) => {
    // Breaks are few and lines are many, so the line is searched for each break, at whichever rail it is shown.
    const stated = { observer: 'statement', status: 'unresolved', limit: RECORDS_PER_STEP } as const;
    for await (const breaks of pagesOfBreaks(deps.breaks, stated)) {
      if (breaks.length === 0) continue;
      await keep();
      await take({ statement, breaks });
    }
    let hasRoom = true;
    for (const result of breakResults) {
      const limitOf = () => (hasRoom ? RECORDS_PER_STEP : NOTED_PER_STEP);
      for await (const records of recordsOf(deps, statement._id, result, limitOf)) {
        await keep();
        hasRoom = await take({ statement, records });
      }
    }
  };
}

/** The records of a result in the order of their ids. */
async function* recordsOf(
  { statementStore: { records } }: StatementBreakDeps,
  statement: string,
  result: (typeof breakResults)[number],
  limitOf: () => number,
): AsyncGenerator<readonly RecordDocument[]> {
  let after = '';
  for (;;) {
    const page = await records
      .find({ run: statement, result, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(limitOf())
      .toArray();
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last._id;
  }
}

/** Takes back what statements said and the newest has as we have it, or this one reads in another way. */
async function close(
  deps: StatementBreakDeps,
  statement: StatementDocument,
  breaks: readonly Break[],
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const references = breaks.map(({ reference }) => reference);
  const lines = await linesAbout(deps.statementStore, references, transaction);
  const at = new Date(deps.clock.nowMs());
  const gone = breaks.flatMap((one) => withdrawalsOf(one, lines, at));
  const reread = await rereadWithdrawals(deps.statementStore, statement, breaks, { session, at });
  await apply(deps, [...gone, ...reread], transaction);
}

/** Opens breaks up to the limit; gives whether there is more. A break that is open already does not count. */
async function open(
  deps: StatementBreakDeps,
  statement: StatementDocument,
  records: readonly RecordDocument[],
  transaction: Transaction,
): Promise<boolean> {
  const { session } = transaction;
  const { statementStore, breaks } = deps;
  const current = await statementStore.runs.findOne({ _id: statement._id }, { session });
  const fresh = await statementStore.records
    .find(
      {
        _id: { $in: records.map(({ _id }) => _id) },
        breakId: { $exists: false },
        hidden: { $exists: false },
      },
      { session },
    )
    .sort({ _id: 1 })
    .toArray();
  if (!current || current.stage !== 'breaks') return true;
  if (fresh.length === 0) return current.opened < deps.openMax;
  const openedAt = new Date(deps.clock.nowMs());
  const differing = fresh.flatMap(({ uses, payment }) => (uses === undefined ? [] : (payment ?? [])));
  const stated = await linesAbout(statementStore, differing, transaction);
  const found = await breaksOfRecords(statementStore, statement, fresh, { session, openedAt }, stated);
  const ids = [...found.values()].flat().map(idOf);
  const known = new Map((await breaks.findAll(ids, session)).map((one) => [one._id, one]));
  const { room, opening, shown, hidden } = share(found, known, deps.openMax - current.opened);
  await apply(deps, [...opening.values()], transaction);
  if (shown.length + hidden.length === 0) return room > 0;
  const updates = shown.map(([id, findings]) => {
    const [breakId, ...others] = findings.map(idOf);
    const set = {
      ...(breakId !== undefined && { breakId }),
      ...(others.length > 0 && { alsoCoveredBy: others }),
    };
    return { updateOne: { filter: { _id: id }, update: { $set: set } } };
  });
  const hiding = {
    updateMany: { filter: { _id: { $in: hidden } }, update: { $set: { hidden: true as const } } },
  };
  await statementStore.records.bulkWrite([...updates, ...(hidden.length > 0 ? [hiding] : [])], {
    session,
  });
  await statementStore.runs.updateOne(
    { _id: statement._id },
    { $inc: { opened: deps.openMax - current.opened - room, hidden: hidden.length } },
    { session },
  );
  return room > 0;
}

/** Which records get their breaks, and which are hidden because of the limit; by record, in order. */
function share(
  found: ReadonlyMap<string, readonly FoundBreak[]>,
  known: ReadonlyMap<string, Break>,
  roomBefore: number,
) {
  let room = roomBefore;
  const opening = new Map<string, FoundBreak>();
  const shown: (readonly [string, readonly FoundBreak[]])[] = [];
  const hidden: string[] = [];
  for (const [record, findings] of found) {
    const others = findings.filter((one) => !opening.has(idOf(one)));
    const needed = others.filter((one) => opens(one, known.get(idOf(one)))).length;
    if (needed > room) {
      hidden.push(record);
      continue;
    }
    room -= needed;
    // Of several lines about one field the first counts.
    for (const one of others) opening.set(idOf(one), one);
    shown.push([record, findings]);
  }
  return { room, opening, shown, hidden };
}

/** Whether a finding needs a break that does not stand yet. */
function opens(found: FoundBreak, current: Break | undefined): boolean {
  return current?.status !== 'open' && observe(found, current) !== current;
}

function idOf({ reference, field }: FoundBreak): string {
  return breakId(reference, field);
}

/** Applies reports, and notes them in their payments, if those are known. */
async function apply(
  { store, breaks }: StatementBreakDeps,
  reports: readonly BreakReport[],
  transaction: Transaction,
): Promise<void> {
  if (reports.length === 0) return;
  const { session } = transaction;
  const references = reports.map(({ reference }) => reference);
  const payments = new Map(await store.load(references, session));
  await applyReports(breaks, reports, payments, transaction);
  await store.save([...payments.values()], session);
}
