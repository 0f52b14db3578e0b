import { createHash } from 'node:crypto';
import type { Clock, Result } from '@pesewa/kernel';
import { accept, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import {
  type HeldRow,
  matchByReference,
  type NumberedRow,
  notInBooks,
  type Outcome,
  type StatementPayment,
} from '../domain/statement-matching.ts';
import type { StatementLine } from '../domain/statement-records.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayments } from '../matching/payments.ts';
import { type FileLimits, readStatementFile } from './lines.ts';
import { toPayment } from './settling.ts';
import { lineId, type RecordDocument, type StatementDocument, type StatementStore } from './store.ts';
import { UnreadableFileError } from './text.ts';

/** Why a file was refused, for people to read. */
export interface IntakeRefusal {
  readonly code: 'unreadable' | 'too_large' | 'digest_differs' | 'content_differs' | 'dropped';
  readonly message: string;
}

/**
 * Stores the missing part of a statement as it arrives, each line matched by its reference; resolves once all of the file
 * is stored and its digest matches the announced one.
 */
export type StatementIntake = (
  statement: StatementDocument,
  content: AsyncIterable<Uint8Array>,
) => Promise<Result<StatementDocument, IntakeRefusal>>;

/** The dependencies of {@link createStatementIntake}. */
export interface IntakeDeps {
  readonly statementStore: StatementStore;
  readonly payments: Pick<WindowPayments, 'find'>;
  readonly railFee: RailFee;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly limits: FileLimits;
  readonly clock: Clock;
}

/** A batch of lines, with what was looked up before its transaction. */
interface Batch {
  readonly statement: StatementDocument;
  /** Its index, from 0. */
  readonly place: number;
  readonly chain: string;
  readonly lines: readonly StatementLine[];
  readonly payments: ReadonlyMap<string, StatementPayment>;
}

/** Builds {@link StatementIntake}. */
export function createStatementIntake(deps: IntakeDeps): StatementIntake {
  const { runs } = deps.statementStore;
  const storeOnce = commitEach(deps.messaging, 'reconciler.statement', (batch: Batch, transaction) =>
    store(deps, batch, transaction),
  );

  /** What is stored after a batch: by this upload, or by a concurrent upload of the same file. */
  async function commit(batch: Batch): Promise<Stored> {
    const { statement, place, chain } = batch;
    if (await storeOnce(batch)) return { batches: place + 1, chain };
    const found = await runs.findOne({ _id: statement._id });
    if (!found || found.stage === 'dropped') throw new SourceFencedError('dropped meanwhile');
    return found;
  }

  return async (statement, content) => {
    const { _id } = statement;
    const receiving = { _id, stage: 'receiving' } as const;
    const due = () => ({ running: true, dueAt: new Date(deps.clock.nowMs()) }) as const;
    const drop = () => runs.updateOne(receiving, { $set: { stage: 'dropped', ...due() } });
    try {
      const received = await receive(deps, statement, content, commit);
      if (received.ok) {
        await runs.updateOne(
          { ...receiving, batches: received.value.batches },
          { $set: { stage: 'gathering', file: received.value.file, ...(!statement.trial && due()) } },
        );
        const found = await runs.findOne({ _id });
        return found && found.stage !== 'dropped' ? accept(found) : refuse(droppedMeanwhile);
      }
      await drop();
      return received;
    } catch (error) {
      if (error instanceof SourceFencedError) return refuse(droppedMeanwhile);
      if (!(error instanceof UnreadableFileError)) throw error;
      await drop();
      return refuse({ code: error.isTooLarge ? 'too_large' : 'unreadable', message: error.message });
    }
  };
}

type Stored = Pick<StatementDocument, 'batches' | 'chain'>;
type Received = Required<Pick<StatementDocument, 'batches' | 'file'>>;

/** Reads the file and stores the missing batches, each while the next one is being read. */
async function receive(
  deps: IntakeDeps,
  statement: StatementDocument,
  content: AsyncIterable<Uint8Array>,
  commit: (batch: Batch) => Promise<Stored>,
): Promise<Result<Received, IntakeRefusal>> {
  const { mapping, currency } = statement;
  const file = readStatementFile(content, { mapping, currency, limits: deps.limits });
  let known: Stored = statement;
  let place = 0;
  let chain = '';
  let writing: Promise<Stored> = Promise.resolve(known);
  try {
    for await (const lines of file.batches) {
      chain = carryOn(chain, lines);
      known = await writing;
      const batch = { statement, place, chain, lines };
      place += 1;
      if (place <= known.batches) {
        if (place === known.batches && chain !== known.chain) return contentDiffers();
        continue;
      }
      const named = lines.flatMap(({ read }) => ('row' in read ? (read.row.reference ?? []) : []));
      const found = named.length > 0 ? await deps.payments.find(named) : [];
      const payments = new Map(
        found.flatMap((one) => toPayment(one, deps.railFee) ?? []).map((one) => [one.reference, one]),
      );
      writing = commit({ ...batch, payments });
      // Awaited with the next batch; this only keeps an earlier rejection from being unhandled.
      writing.catch(() => undefined);
    }
  } finally {
    known = await writing.catch(() => known);
  }
  known = await writing;
  if (known.batches !== place || (place > 0 && known.chain !== chain)) return contentDiffers();
  if (file.digest() !== statement.digest) {
    const message = `sha256: the file that came has the digest ${file.digest()}: send that, or the right file`;
    return refuse({ code: 'digest_differs' as const, message });
  }
  return accept({ batches: place, file: { ...file.counts(), proposal: file.proposal() } });
}

class SourceFencedError extends Error {
  override readonly name = 'SourceFencedError';
}

const droppedMeanwhile: IntakeRefusal = {
  code: 'dropped',
  message:
    'the statement was dropped meanwhile, since another upload under its digest had other content: send it again',
};

function contentDiffers() {
  const message =
    'sha256: an earlier upload under this digest had other content, which is dropped now: send the file again';
  return refuse({ code: 'content_differs' as const, message });
}

/** A digest of everything up to a batch: two uploads with the same digest have stored the same. */
function carryOn(chain: string, lines: readonly StatementLine[]): string {
  const exact = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' ? String(value) : value;
  return createHash('sha256').update(chain).update(JSON.stringify(lines, exact)).digest('hex');
}

/** Stores a batch together with the number of stored batches; false if another upload has stored it. */
async function store(deps: IntakeDeps, batch: Batch, { session }: Transaction): Promise<boolean> {
  const { runs, records } = deps.statementStore;
  const { statement, place, chain, lines, payments } = batch;
  const { _id, rail } = statement;
  const rows = lines.flatMap(({ line, read }): readonly NumberedRow[] =>
    'row' in read ? [{ id: lineId(_id, line), row: read.row }] : [],
  );
  const unreadable = lines.some(({ read }) => 'unreadable' in read) && ({ hasUnreadable: true } as const);
  const times = rows.flatMap(({ row: { atMs } }) => atMs ?? []);
  const { matchedCount } = await runs.updateOne(
    { _id, stage: 'receiving', batches: place },
    {
      $set: { batches: place + 1, chain, ...unreadable },
      $inc: { lines: lines.length },
      $addToSet: { currencies: { $each: [...new Set(rows.map(({ row }) => row.currency))] } },
      ...(times.length > 0 && {
        $min: { firstAt: new Date(Math.min(...times)) },
        $max: { lastAt: new Date(Math.max(...times)) },
      }),
    },
    { session },
  );
  if (matchedCount === 0) return false;
  const held = await findHeld(deps, _id, payments, { session });
  const outcomes = matchByReference(rows, payments, held, rail);
  const displaced = [...held.values()].filter(({ id }) => outcomes.has(id));
  await records.bulkWrite(
    [
      // First the lines that lose their place, because a movement has only one line at any time.
      ...displaced.map(({ id }) => ({
        updateOne: {
          filter: { _id: id },
          update: {
            $set: { result: 'duplicate' as const },
            $unset: {
              uses: true,
              compared: true,
              differsIn: true,
              difference: true,
              feeDifference: true,
            } as const,
          },
        },
      })),
      ...lines.map((line) => {
        const outcome = outcomes.get(lineId(_id, line.line));
        return { insertOne: { document: toRecord(statement, line, outcome) } };
      }),
    ],
    { session, ordered: true },
  );
  return true;
}

/** The lines of earlier batches that stand for movements of these payments. */
async function findHeld(
  { statementStore }: IntakeDeps,
  run: string,
  payments: ReadonlyMap<string, StatementPayment>,
  options: Pick<Transaction, 'session'>,
): Promise<ReadonlyMap<string, HeldRow>> {
  if (payments.size === 0) return new Map();
  const movements = [...payments.keys()].flatMap((reference) => [reference, `${reference}/reversal`]);
  const found = await statementStore.records.find({ uses: { $in: movements }, run }, options).toArray();
  return new Map(
    found.flatMap((record) => {
      const { _id: id, row, uses } = record;
      return row && uses !== undefined ? [[uses, { id, row, outcome: record }] as const] : [];
    }),
  );
}

function toRecord(
  { _id: run, keepUntil }: StatementDocument,
  { line, read }: StatementLine,
  outcome: Outcome | undefined,
): RecordDocument {
  const base = { _id: lineId(run, line), run, line, keepUntil };
  if ('unreadable' in read) return { ...base, result: 'unreadable', reason: read.unreadable };
  if ('aside' in read) return { ...base, result: 'set_aside' };
  const { row } = read;
  return { ...base, row, ...(outcome ?? notInBooks(row)) };
}
