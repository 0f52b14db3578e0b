import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { isTransientMongoError } from '../database/mongo.ts';
import { runHandler } from '../inbox/batch.ts';
import { offsetsOf, recordDiscarded } from '../inbox/offsets.ts';
import {
  type DiscardDecision,
  type DiscardRefusal,
  decideDiscard,
  type ParkedMessage,
  proposeDiscard,
} from '../inbox/parked-message.ts';
import { type ParkedStore, type StoredParkedMessage, toKafkaMessage } from '../inbox/parked-store.ts';
import { describeFailure } from '../inbox/parking.ts';
import { type Reading, readMessages, type TopicHandler } from '../inbox/topic-handler.ts';
import type { GroupCommit, OpenGroupCommit } from '../outbox/group-commit.ts';
import type { Transaction } from '../outbox/outbox.ts';
import type { Codec } from '../schemas/codec.ts';

/** Why a replay changed nothing; only the attempt is recorded. */
export interface ReplayFailure {
  readonly failure: string;
}

/** Why an operator's request was refused. */
export type ParkedRefusal = 'parked.unknown' | DiscardRefusal;

/** The operators' actions on the parked messages of a service. */
export type ParkedMessages = ReturnType<typeof createParked>;

/** The dependencies of {@link ParkedMessages}. */
export interface ParkedDeps {
  readonly store: ParkedStore;
  /** The handlers by the full names of their topics. */
  readonly handlers: ReadonlyMap<string, TopicHandler>;
  readonly codec: Codec;
  readonly db: Db;
  readonly group: string;
  readonly groupCommit: OpenGroupCommit;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}

/** The handler parks the message again: nothing of the replay may be committed. */
class ParkedAgainError extends Error {
  override readonly name = 'ParkedAgainError';
}

interface Replayable {
  readonly id: string;
  readonly partition: number;
  readonly handler: TopicHandler;
  readonly reading: Reading;
  readonly by: string;
}

/** Builds {@link ParkedMessages}. */
export function createParked(deps: ParkedDeps) {
  const { store } = deps;
  const now = () => new Date(deps.clock.nowMs());
  const discarding = createDiscarding(deps, now);
  const replaying = deps.groupCommit<Replayable, Result<ParkedMessage, ParkedRefusal>>(
    `${deps.group}.replay`,
    (items, transaction, isRetry) => Promise.all(items.map((item) => apply(item, transaction, isRetry))),
    // Each replay has its own transaction, so that a failing one does not affect the others.
    { itemsMax: 1 },
  );

  async function apply(
    { id, partition, handler, reading, by }: Replayable,
    transaction: Transaction,
    isRetry: boolean,
  ): Promise<Result<ParkedMessage, ParkedRefusal>> {
    const standing = await store.find(id, transaction.session);
    if (!standing) return refuse('parked.unknown');
    if (standing.state !== 'parked') return judgeEnded(standing);
    const reason = (await runHandler(handler, partition, [reading], transaction, isRetry)).get(reading);
    if (reason !== undefined) throw new ParkedAgainError(reason);
    const replayed = { ...standing, state: 'replayed', lastReplay: { by, at: now() } } as const;
    // Read in this transaction's snapshot: a concurrent write is a conflict, and the transaction reruns.
    if (!(await store.replace(standing, replayed, transaction.session)))
      throw new Error('a parked message was changed twice at once');
    return accept(replayed);
  }

  async function change(
    id: string,
    judge: (message: StoredParkedMessage) => Result<StoredParkedMessage, ParkedRefusal>,
  ): Promise<Result<ParkedMessage, ParkedRefusal>> {
    for (;;) {
      const before = await store.find(id);
      if (!before) return refuse('parked.unknown');
      const after = judge(before);
      if (!after.ok || after.value === before || (await store.replace(before, after.value))) return after;
    }
  }

  async function fail(id: string, by: string, failure: string) {
    const lastReplay = { by, at: now(), failure };
    const noted = await change(id, (message) =>
      message.state === 'parked' ? accept({ ...message, lastReplay }) : judgeEnded(message),
    );
    return noted.ok && noted.value.state === 'parked' ? refuse({ failure }) : noted;
  }

  return {
    list: store.list,
    find: (id: string): Promise<StoredParkedMessage | undefined> => store.find(id),
    /**
     * Passes a message to its topic's handler, in a transaction of its own together with the events that the handler
     * emits. A message that took effect before is not touched; one that fails stays parked with the reason.
     */
    replay: async (id: string, by: string): Promise<Result<ParkedMessage, ParkedRefusal | ReplayFailure>> => {
      const message = await store.find(id);
      if (!message) return refuse('parked.unknown');
      if (message.state !== 'parked') return judgeEnded(message);
      const read = await readKept(deps, message);
      if (!read.ok) return fail(id, by, read.refusal);
      try {
        return await replaying.submit({ id, partition: message.partition, by, ...read.value });
      } catch (error) {
        // Whether it took effect is unknown; replaying it again is safe and shows it.
        if (isTransientMongoError(error)) throw error;
        if (error instanceof ParkedAgainError) return fail(id, by, error.message);
        deps.logger.error({ err: error, parked: id }, 'handler failed');
        return fail(id, by, describeFailure(error));
      }
    },
    /** Proposes that a message shall never have an effect. */
    proposeDiscard: (
      id: string,
      { reason, by }: { readonly reason: string; readonly by: string },
    ): Promise<Result<ParkedMessage, ParkedRefusal>> =>
      change(id, (message) => proposeDiscard(message, { reason, by, at: now() })),
    /** Approves such a proposal, or rejects it. */
    decideDiscard: (id: string, decision: DiscardDecision): Promise<Result<ParkedMessage, ParkedRefusal>> =>
      discarding.submit({ id, decision }),
  };
}

interface DecidedDiscard {
  readonly id: string;
  readonly decision: DiscardDecision;
}

/**
 * Builds the decisions about discards. A discard is written, in the decision's own transaction, to the offset document
 * that every batch of its partition reads.
 */
function createDiscarding(
  { store, db, group, groupCommit }: ParkedDeps,
  now: () => Date,
): GroupCommit<DecidedDiscard, Result<ParkedMessage, ParkedRefusal>> {
  async function decide(
    { id, decision }: DecidedDiscard,
    { session }: Transaction,
  ): Promise<Result<ParkedMessage, ParkedRefusal>> {
    const before = await store.find(id, session);
    if (!before) return refuse('parked.unknown');
    const decided = decideDiscard(before, { ...decision, at: now() });
    if (!decided.ok || decided.value === before) return decided;
    const { state, eventId } = decided.value;
    if (state === 'discarded' && eventId !== '') {
      const partition = id.slice(0, id.lastIndexOf('/'));
      await recordDiscarded(offsetsOf(db), { id: partition, eventId }, session);
      await store.discardCopies(decided.value, session);
    }
    // Read in this transaction's snapshot: a concurrent write is a conflict, and the transaction reruns.
    if (!(await store.replace(before, decided.value, session)))
      throw new Error('a parked message was changed twice at once');
    return decided;
  }

  return groupCommit<DecidedDiscard, Result<ParkedMessage, ParkedRefusal>>(
    `${group}.discard`,
    (items, transaction) => Promise.all(items.map((item) => decide(item, transaction))),
    { itemsMax: 1 },
  );
}

/** The outcome of replaying a message that is not parked any more: it took effect once, or never will. */
function judgeEnded(message: StoredParkedMessage): Result<StoredParkedMessage, 'parked.closed'> {
  return message.state === 'replayed' ? accept(message) : refuse('parked.closed');
}

/** The event that a kept message is for its topic's handler, or the reason why it is none. */
async function readKept(
  { handlers, codec, group }: ParkedDeps,
  { topic, offset, eventType, kept }: StoredParkedMessage,
): Promise<Result<Pick<Replayable, 'handler' | 'reading'>, string>> {
  const handler = handlers.get(topic);
  if (!handler) return refuse(`${group} no longer consumes ${topic}`);
  if (!kept) return refuse('the message was too large to be kept: it lies in its topic alone');
  const [reading] = await readMessages([toKafkaMessage(offset, kept)], handler, codec);
  switch (reading?.kind) {
    case 'event':
      return accept({ handler, reading });
    case 'poison':
      return refuse(reading.reason);
    case 'unknown':
      return refuse(`this version does not know the type ${eventType}`);
    case undefined:
      return refuse(`this version ignores the type ${eventType}`);
  }
}
