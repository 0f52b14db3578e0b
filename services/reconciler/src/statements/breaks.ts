import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { type BreakStore, pagesOfBreaks } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { mergeFindings } from '../domain/discrepancies.ts';
import { afterReport, type Tracked } from '../domain/tracked.ts';
import { breakOpened, breakResolved } from '../events.ts';
import type { WorkingStore } from '../store.ts';
import { breaksOfRecords } from './findings.ts';
import type { RecordDocument, StatementDocument, StatementStore } from './store.ts';

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
const breakResults = ['differs', 'missing_there', 'missing_here', 'duplicate'] as const;

const CLOSING: readonly BreakKind[] = [
  'statement.differs',
  'statement.missing_here',
  'statement.missing_there',
];

/** An earlier statement's finding: a break of its own, or a part of another. */
type Standing = Pick<FoundBreak, '_id' | 'kind' | 'reference'>;

/** What is updated in one transaction: records that may open breaks, or breaks that may be explained. */
type Step = { readonly statement: StatementDocument } & (
  | { readonly records: readonly RecordDocument[] }
  | { readonly breaks: readonly Standing[] }
);

/** Builds {@link StatementBreaks}. */
export function createStatementBreaks(deps: StatementBreakDeps): StatementBreaks {
  const steps = deps.messaging.groupCommit<Step, boolean>(
    'reconciler.statement-breaks',
    async (given, transaction) => {
      const rooms: boolean[] = [];
      for (const step of given) {
        if ('records' in step) rooms.push(await open(deps, step.statement, step.records, transaction));
        else {
          await close(deps, step.statement, step.breaks, transaction);
          rooms.push(true);
        }
      }
      return rooms;
    },
    { itemsMax: 1 },
  );
  return async (statement, keep) => {
    // Breaks are few and lines are many, so the line is searched for each break.
    for (const kind of CLOSING) {
      for await (const breaks of standingOf(deps, kind, statement.rail)) {
        await keep();
        await steps.submit({ statement, breaks });
      }
    }
    let hasRoom = true;
    for (const result of breakResults) {
      const limitOf = () => (hasRoom ? RECORDS_PER_STEP : NOTED_PER_STEP);
      for await (const records of recordsOf(deps, statement._id, result, limitOf)) {
        await keep();
        hasRoom = await steps.submit({ statement, records });
      }
    }
  };
}

/** Earlier statements' findings of a kind that still exist, in breaks of their own or of others. */
async function* standingOf(
  { breaks }: StatementBreakDeps,
  kind: BreakKind,
  rail: string,
): AsyncGenerator<readonly Standing[]> {
  for (const found of [{ kind }, { alsoFound: kind }]) {
    const query = { ...found, rail, status: 'unresolved', limit: RECORDS_PER_STEP } as const;
    for await (const page of pagesOfBreaks(breaks, query)) {
      const findings = page.flatMap((one) => [one, ...(one.alsoFound ?? [])]);
      const ofKind = findings.filter((one) => one.kind === kind);
      if (ofKind.length > 0) yield ofKind;
    }
  }
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

/** Closes what a statement explains: the payment exists on both sides and, if that was the question, matches. */
async function close(
  deps: StatementBreakDeps,
  statement: StatementDocument,
  breaks: readonly Standing[],
  transaction: Transaction,
): Promise<void> {
  const { records } = deps.statementStore;
  const { session } = transaction;
  const references = breaks.map(({ reference }) => reference);
  const uses = { $in: references.flatMap((reference) => [reference, `${reference}/reversal`]) };
  const lines = await records.find({ uses, run: statement._id }, { session }).toArray();
  const resolving = breaks.filter(({ kind, reference }) => {
    const about = lines.filter(({ payment }) => payment === reference);
    if (kind === 'statement.missing_there') return about.some((line) => line.uses === reference);
    return about.length > 0 && (kind !== 'statement.differs' || about.every(isMatched));
  });
  const resolution = `the statement ${statement._id} has it as we have`;
  const updated = await deps.breaks.update(
    resolving.map(({ _id: id }) => ({ id, resolution })),
    new Date(deps.clock.nowMs()),
    session,
  );
  for (const one of updated.closed) transaction.emit(breakResolved(one));
  for (const one of updated.opened) transaction.emit(breakOpened(one));
  await note(deps, updated.closed, 'resolved', transaction);
  await note(deps, updated.opened, 'break', transaction);
}

function isMatched({ result }: RecordDocument): boolean {
  return result === 'matched';
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
  const found = await breaksOfRecords(statementStore, statement, fresh, {
    session,
    openedAt: new Date(deps.clock.nowMs()),
  });
  const findings = [...found.values()];
  const known = await breaks.findAll(
    findings.map(({ _id }) => _id),
    session,
  );
  const open = known.filter(({ status }) => status === 'open').map(({ _id }) => _id);
  const elsewhere = await breaks.coveredElsewhere(findings, session);
  // Findings with an open break, and those that other breaks cover, don't count towards the limit.
  const standing = new Set([...open, ...elsewhere.keys()]);
  const { room, opening, shown, hidden } = share(found, standing, deps.openMax - current.opened);
  const { opened, coveringBreaks } = await breaks.openAndReport([...opening.values()], session);
  for (const one of opened) transaction.emit(breakOpened(one));
  await note(deps, opened, 'break', transaction);
  if (shown.length + hidden.length === 0) return room > 0;
  const updates = shown.map(({ id, finding }) => {
    const [breakId = finding, ...others] = coveringBreaks.get(finding) ?? [];
    const set = { breakId, ...(others.length > 0 && { alsoCoveredBy: others }) };
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

/** Which records get a break, and which are hidden because of the limit; by record, in order. */
function share(found: ReadonlyMap<string, FoundBreak>, standing: ReadonlySet<string>, roomBefore: number) {
  let room = roomBefore;
  const opening = new Map<string, FoundBreak>();
  const shown: { readonly id: string; readonly finding: string }[] = [];
  const hidden: string[] = [];
  for (const [record, one] of found) {
    const isThere = standing.has(one._id) || opening.has(one._id);
    if (!isThere && room <= 0) {
      hidden.push(record);
      continue;
    }
    if (!isThere) room -= 1;
    const before = opening.get(one._id);
    opening.set(one._id, before ? mergeFindings(before, one) : one);
    shown.push({ id: record, finding: one._id });
  }
  return { room, opening, shown, hidden };
}

/** Adds breaks to the timelines of their payments, if those are known. */
async function note(
  { store, clock }: StatementBreakDeps,
  breaks: readonly { readonly kind: string; readonly reference: string }[],
  what: 'break' | 'resolved',
  { session }: Transaction,
): Promise<void> {
  if (breaks.length === 0) return;
  const atMs = clock.nowMs();
  const changed = new Map<string, Tracked>(
    await store.load(
      breaks.map(({ reference }) => reference),
      session,
    ),
  );
  for (const { kind, reference } of breaks) {
    const tracked = changed.get(reference);
    if (!tracked) continue;
    changed.set(reference, afterReport(tracked, what, kind, atMs));
  }
  await store.save([...changed.values()], session);
}
