import type { PauseView, pauseScopes } from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { Db } from 'mongodb';

/** What is paused: everything, a rail, or a merchant. */
export interface PauseSubject {
  readonly scope: (typeof pauseScopes)[number];
  /** Of the rail or the merchant; empty for everything. */
  readonly name: string;
}

/** The parts of a payment that a pause can name. */
export interface Pausable {
  readonly rail?: string;
  readonly merchantId?: string;
}

/** Whether payments are paused, at a rail or of a merchant. */
export type IsPaused = (payment: Pausable) => boolean;

/** How long a payment waits that was to be sent while it is paused, in milliseconds. */
export const PAUSED_RETRY_MS = 10_000;

/** The pauses of a gateway (ADR 77): every replica reads them again each second, and goes by them without a read. */
export type Pauses = Awaited<ReturnType<typeof openPauses>>;

/** The pause that somebody saw, by when it was set: one that was set anew since is another. */
export interface SeenPause extends PauseSubject {
  readonly pausedAt: Date;
}

/** Why the pause that somebody saw does not end. */
export type ResumeRefusal = 'pause.unknown' | 'pause.changed';

/** A pause as MongoDB holds it; `_id` is its scope and name, so that each subject has one. */
interface PauseDocument extends PauseSubject {
  readonly _id: string;
  readonly reason: string;
  readonly by: string;
  readonly at: Date;
  readonly resumeProposedBy?: string;
}

/** The collection of the pauses in a gateway's database. */
export const PAUSES = 'pauses';

const LOOK_MS = 1_000;
const READ_TIMEOUT_MS = 3_000;

const idOf = ({ scope, name }: PauseSubject): string => `${scope}/${name}`;

/** Opens {@link Pauses}, once they are read for the first time: until then a restart could pass on what is paused. */
export async function openPauses(deps: { readonly db: Db; readonly clock: Clock; readonly logger: Logger }) {
  const { clock, logger } = deps;
  const pauses = deps.db.collection<PauseDocument>(PAUSES);
  let current: ReadonlyMap<string, PauseDocument> = new Map();
  let begun = 0;
  let taken = 0;
  const read = async () => {
    begun += 1;
    const turn = begun;
    const found = await pauses.find({}, { maxTimeMS: READ_TIMEOUT_MS }).sort({ _id: 1 }).toArray();
    // A read that began earlier may end later, and must not bring back what was there then.
    if (turn < taken) return;
    taken = turn;
    current = new Map(found.map((document) => [document._id, document]));
  };
  await read();
  const loop = startLoop({
    name: 'pauses',
    pauseMs: LOOK_MS,
    clock,
    logger,
    round: async () => {
      await read();
      return false;
    },
  });
  return {
    isPaused: ({ rail, merchantId }: Pausable) =>
      current.size > 0 &&
      (current.has(idOf({ scope: 'all', name: '' })) ||
        (rail !== undefined && current.has(idOf({ scope: 'rail', name: rail }))) ||
        (merchantId !== undefined && current.has(idOf({ scope: 'merchant', name: merchantId })))),
    list: (): readonly PauseView[] => [...current.values()].map(viewOf),
    /** Pauses at once here, and within a second elsewhere; a pause that is there gets another reason, and stays. */
    pause: async (subject: PauseSubject, reason: string, by: string): Promise<PauseView> => {
      const { scope, name } = subject;
      const document = { _id: idOf(subject), scope, name, reason, by, at: new Date(clock.nowMs()) };
      await pauses.replaceOne({ _id: document._id }, document, { upsert: true });
      await read();
      return viewOf(document);
    },
    /** Proposes to resume, which changes nothing else; the same operator may repeat it. */
    propose: async (
      { pausedAt: at, ...subject }: SeenPause,
      by: string,
    ): Promise<Result<PauseView, ResumeRefusal>> => {
      const _id = idOf(subject);
      const proposed = await pauses.findOneAndUpdate(
        { _id, at },
        [{ $set: { resumeProposedBy: { $ifNull: ['$resumeProposedBy', by] } } }],
        { returnDocument: 'after' },
      );
      await read();
      if (proposed) return accept(viewOf(proposed));
      return refuse(current.has(_id) ? 'pause.changed' : 'pause.unknown');
    },
    /** Resumes what another operator has proposed to resume. */
    approve: async (
      { pausedAt: at, ...subject }: SeenPause,
      { by, approves }: { readonly by: string; readonly approves: string },
    ): Promise<Result<null, ResumeRefusal | 'pause.same_operator' | 'pause.not_proposed'>> => {
      if (by === approves) return refuse('pause.same_operator');
      const _id = idOf(subject);
      const { deletedCount } = await pauses.deleteOne({ _id, at, resumeProposedBy: approves });
      await read();
      if (deletedCount > 0) return accept(null);
      const standing = current.get(_id);
      if (!standing) return refuse('pause.unknown');
      return refuse(standing.at.getTime() === at.getTime() ? 'pause.not_proposed' : 'pause.changed');
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

function viewOf({ scope, name, reason, by, at, resumeProposedBy }: PauseDocument): PauseView {
  const shown = { scope, name: scope === 'all' ? null : name, reason };
  return { ...shown, pausedBy: by, pausedAt: at.toISOString(), resumeProposedBy: resumeProposedBy ?? null };
}
