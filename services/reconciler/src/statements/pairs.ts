import type { FindCursor } from 'mongodb';
import { contentOf } from '../domain/statement-matching.ts';
import {
  NEIGHBOURS_MAX,
  PAIRED_WITHIN_MS,
  type Pairing,
  pairByTime,
  type Timed,
} from '../domain/statement-pairing.ts';
import { type RecordDocument, toRow } from './store.ts';

/** A line without a usable reference, and its pairing by amount and time. */
export interface PairedLine {
  readonly record: RecordDocument;
  readonly pairing: Pairing;
}

/**
 * Walks lines and payments in one order, by pairing key and time, and judges each line by its neighbours.
 *
 * Only a few of both are in memory, however many have the same time: the nearest are sufficient.
 */
export async function* pairInOrder(
  lines: FindCursor<RecordDocument>,
  payments: FindCursor<RecordDocument>,
): AsyncGenerator<PairedLine> {
  const payment = createAhead(payments);
  let before: RecordDocument | undefined;
  let current = (await lines.next()) ?? undefined;
  let earlier: RecordDocument[] = [];
  let later: RecordDocument[] = [];
  while (current) {
    const after = (await lines.next()) ?? undefined;
    const { pairingKey = '' } = current;
    const nowMs = timeOf(current);
    if (before?.pairingKey !== pairingKey) {
      [earlier, later] = [[], []];
      await payment.skipUntil((next) => (next.pairingKey ?? '') >= pairingKey);
    }
    // Reads ahead until the nearest payments on both sides of this line are known.
    for (;;) {
      while (later[0] && timeOf(later[0]) <= nowMs) {
        earlier = [...earlier, ...later.splice(0, 1)].slice(-NEIGHBOURS_MAX);
      }
      const next = later.length < NEIGHBOURS_MAX ? await payment.peek() : undefined;
      if (!next || next.pairingKey !== pairingKey || timeOf(next) > nowMs + PAIRED_WITHIN_MS) break;
      later.push(next);
      payment.take();
    }
    const neighbour = (one: RecordDocument | undefined) =>
      one?.pairingKey === pairingKey ? toTimed(one) : undefined;
    const pairing = pairByTime(toTimed(current), {
      before: neighbour(before),
      after: neighbour(after),
      earlier: earlier.map(toTimed),
      later: later.map(toTimed),
    });
    yield { record: current, pairing };
    [before, current] = [current, after];
  }
}

const COPIES_MAX = 10_000;

/**
 * Counts lines with exactly the same content, in order of pairing key and time; if too many have one time, further ones count
 * as first ones.
 */
export function createCopies() {
  let seen = new Map<string, number>();
  let before = '';
  return ({ row, pairingKey = '', at }: RecordDocument): Pick<RecordDocument, 'copy'> => {
    const now = `${pairingKey} ${at?.getTime()}`;
    if (now !== before) seen = new Map();
    before = now;
    // The rail's own reference shows whether it is the same movement.
    if (!row || row.railReference !== undefined) return {};
    const said = contentOf(toRow(row));
    const copies = (seen.get(said) ?? 0) + 1;
    if (copies > 1 || seen.size < COPIES_MAX) seen.set(said, copies);
    return copies > 1 ? { copy: copies } : {};
  };
}

/** A cursor whose next item can be read without moving it. */
function createAhead(cursor: FindCursor<RecordDocument>) {
  let ahead: RecordDocument | null | undefined;
  const peek = async (): Promise<RecordDocument | undefined> => {
    if (ahead === undefined) ahead = await cursor.next();
    return ahead ?? undefined;
  };
  const take = () => {
    if (ahead !== null) ahead = undefined;
  };
  return {
    peek,
    take,
    skipUntil: async (isThere: (record: RecordDocument) => boolean): Promise<void> => {
      for (let next = await peek(); next && !isThere(next); next = await peek()) take();
    },
  };
}

function timeOf({ at }: RecordDocument): number {
  return at?.getTime() ?? 0;
}

function toTimed(record: RecordDocument): Timed {
  return { id: record.payment ?? record._id, atMs: timeOf(record) };
}
