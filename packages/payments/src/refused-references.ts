import { createWriter } from '@pesewa/messaging';
import type { ClientSession, Collection, Document, Filter, IndexDescription } from 'mongodb';

/** The mark of a refused request at its reference, among the payments, so that it collides with what is accepted. */
interface RefusedDocument {
  readonly _id: string;
  readonly kind: 'refused';
  readonly refusedAt: Date;
}

/** How long after its arrival a request may still be accepted: a frozen process must not do so later. */
const ACCEPTED_WITHIN_MS = 60_000;

/** Longer than any request that came before the refusal may be under way. */
const KEPT_S = 120;

/** The index by which the marks of refused requests are deleted; no payment is in it. */
export const refusedIndex: IndexDescription = {
  key: { refusedAt: 1 },
  expireAfterSeconds: KEPT_S,
  partialFilterExpression: { kind: 'refused' },
};

/** The filter of what is no mark of a refused request. */
export const NOT_REFUSED = { kind: { $ne: 'refused' } } as const;

/** Whether a request has been under way for so long that it must not be accepted any more. */
export function isOverdue(arrivedAtMs: number, nowMs: number): boolean {
  return nowMs - arrivedAtMs >= ACCEPTED_WITHIN_MS;
}

/** A request for a payment, by the id of its reference. */
interface ArrivedRequest {
  readonly id: string;
  readonly arrivedAtMs: number;
}

/**
 * Makes refusals certain: a reference that was refused is not accepted for a request that came before the refusal, and
 * is still under way or has an unknown outcome (ADR 87).
 */
export type RefusedReferences = ReturnType<typeof openRefusedReferences>;

/** Opens {@link RefusedReferences} among a gateway's payments. */
export function openRefusedReferences<Payment extends Document>(payments: Collection<Payment>) {
  const { db, collectionName } = payments;
  const collection = db.collection<RefusedDocument>(collectionName);
  const writer = createWriter(db, collectionName);
  return {
    /** Marks references as refused by now; a unique key that is taken shows that one is that of a payment. */
    mark: (ids: readonly string[], session: ClientSession) => {
      const u = { $currentDate: { refusedAt: true } };
      const updates = ids.map((_id) => ({ q: { _id, kind: 'refused' }, u, upsert: true }));
      return writer.update(updates, session);
    },
    /** Frees the references for requests that came after the refusals; gives those that stay refused. */
    release: async (
      requests: readonly ArrivedRequest[],
      nowMs: () => number,
      session: ClientSession,
    ): Promise<ReadonlySet<string>> => {
      const found = await compareAges(collection, requests, nowMs, session);
      const free = [...found].flatMap(([id, isEarlier]) => (isEarlier ? [] : id));
      if (free.length > 0) await collection.deleteMany({ _id: { $in: free }, kind: 'refused' }, { session });
      return new Set([...found].flatMap(([id, isEarlier]) => (isEarlier ? id : [])));
    },
  };
}

/** A slow answer leaves open which came first, so it is asked for again, so many times in all. */
const TRIES = 5;

/**
 * The marks at the requests' references, each with whether its request came before it.
 *
 * Both ages are durations of one clock each, so no clocks have to agree. The server reads the mark's age at some time
 * between the question and its answer; a request whose age lies between what it was at those two times counts as earlier.
 */
async function compareAges(
  marks: Collection<RefusedDocument>,
  requests: readonly ArrivedRequest[],
  nowMs: () => number,
  session: ClientSession,
): Promise<ReadonlyMap<string, boolean>> {
  const filter: Filter<RefusedDocument> = { _id: { $in: requests.map(({ id }) => id) }, kind: 'refused' };
  const projection = { ageMs: { $subtract: ['$$NOW', '$refusedAt'] } };
  for (let tries = 1; ; tries += 1) {
    const askedAtMs = nowMs();
    const found = await marks
      .find(filter, { session, projection })
      .map(({ _id, ...mark }) => [_id, Number((mark as unknown as { ageMs: bigint }).ageMs)] as const)
      .toArray();
    const answeredAtMs = nowMs();
    const ageOf = new Map(found);
    const marked = requests.flatMap(({ id, arrivedAtMs }) => {
      const ageMs = ageOf.get(id);
      return ageMs === undefined ? [] : [{ id, arrivedAtMs, ageMs }];
    });
    const isOpen = marked.some(
      ({ arrivedAtMs, ageMs }) => ageMs > askedAtMs - arrivedAtMs && ageMs <= answeredAtMs - arrivedAtMs,
    );
    if (!isOpen || tries === TRIES)
      return new Map(marked.map(({ id, arrivedAtMs, ageMs }) => [id, ageMs <= answeredAtMs - arrivedAtMs]));
  }
}
