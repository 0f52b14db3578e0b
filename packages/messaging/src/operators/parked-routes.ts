import {
  formatPageCursor,
  type ParkedDetailView,
  type ParkedView,
  parkedOperations,
} from '@pesewa/contracts';
import { proposalExpiryMs } from '@pesewa/kernel';
import { answer, type Logger, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { DiscardDecision, ParkedMessage } from '../inbox/parked-message.ts';
import type { StoredParkedMessage } from '../inbox/parked-store.ts';
import { type Codec, UndecodableError } from '../schemas/codec.ts';
import type { ParkedMessages } from './parked.ts';

const MESSAGES_PER_PAGE = 100;
/** Enough to recognise an undecodable message; all of it is in the database and in its topic. */
const SHOWN_BYTES_MAX = 3_072;

/** The dependencies of the routes of parked messages. */
export interface ParkedRouteDeps {
  readonly parked: ParkedMessages;
  readonly codec: Pick<Codec, 'decode'>;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Adds the routes by which operators list parked messages, replay them, and discard them with a second operator's
 * approval (ADR 8).
 */
export function addParkedRoutes(operator: Hono, deps: ParkedRouteDeps): void {
  const { parked, codec, logger } = deps;
  const decide = async (id: string, decision: DiscardDecision) => {
    const decided = await parked.decideDiscard(id, decision);
    if (!decided.ok) return refuse(decided.refusal);
    const { verdict, by: operator } = decision;
    logger.info({ parked: id, operator, verdict }, 'to discard a parked message was decided');
    return answer(200, view(decided.value));
  };
  serveOperations(operator, parkedOperations, {
    list: async ({ query: { state, topic, proposed, cursor: after } }) => {
      const isProposed = proposed !== undefined;
      const page = await parked.list({ state, topic, isProposed, after, limit: MESSAGES_PER_PAGE });
      return answer(200, { items: page.items.map(view), next: page.next && formatPageCursor(page.next) });
    },
    show: async ({ parameters: { id } }) => {
      const found = await parked.find(id);
      return found ? answer(200, await viewWhole(found, codec)) : unknown;
    },
    replay: async ({ parameters: { id }, operator: by }) => {
      const replayed = await parked.replay(id, by);
      if (replayed.ok) {
        logger.info({ parked: id, operator: by }, 'a parked message was replayed');
        return answer(200, view(replayed.value));
      }
      if (typeof replayed.refusal === 'string') return refuse(replayed.refusal);
      const { failure } = replayed.refusal;
      logger.info({ parked: id, operator: by, failure }, 'the replay of a parked message failed');
      return refused('replay_failed', `the message stays parked: ${failure}`);
    },
    discard: async ({ parameters: { id }, body: { reason }, operator: by }) => {
      const proposed = await parked.proposeDiscard(id, { reason, by });
      if (!proposed.ok) return refuse(proposed.refusal);
      logger.info({ parked: id, operator: by }, 'the discard of a parked message was proposed');
      return answer(202, view(proposed.value));
    },
    approve: ({ parameters: { id }, body, operator: by }) =>
      decide(id, { verdict: 'approve', by, requestedAt: new Date(body.requestedAt) }),
    reject: ({ parameters: { id }, body: { requestedAt, reason }, operator: by }) =>
      decide(id, { verdict: 'reject', by, requestedAt: new Date(requestedAt), reason }),
  });
}

const unknown = refused('not_found', 'there is no such parked message');

const refuse = refusalsAs({
  'parked.unknown': ['not_found', unknown.message],
  'parked.closed': ['closed', 'the message is no longer parked: show it to see its outcome'],
  'discard.open': ['undecided', 'a discard of it is already proposed, and not decided yet'],
  'discard.none': ['not_proposed', 'no discard of it is proposed'],
  'discard.changed': ['changed', 'requestedAt: another discard is proposed now: read it, then decide'],
  'discard.same_operator': [
    'same_operator',
    'you proposed to discard it: another operator must approve that, with a token of their own',
  ],
  'discard.expired': ['expired', 'the proposal is older than seven days: propose it again'],
  'discard.decided': ['decided', 'the proposal is decided already'],
});

/** A parked message as operators see it in a list; times in UTC. */
function view(message: ParkedMessage): ParkedView {
  const { id, topic, partition, offset, key, eventType, eventId, reason, valueBytes, parkedAt, state } =
    message;
  const { lastReplay, discard } = message;
  return {
    id,
    topic,
    partition,
    offset: String(offset),
    key,
    eventType,
    eventId,
    reason,
    valueBytes,
    parkedAt: parkedAt.toISOString(),
    state,
    ...(lastReplay && {
      lastReplay: { by: lastReplay.by, at: lastReplay.at.toISOString(), failure: lastReplay.failure ?? null },
    }),
    ...(discard && { discard: viewDiscard(discard) }),
  };
}

function viewDiscard(discard: NonNullable<ParkedMessage['discard']>): ParkedView['discard'] {
  const { reason, requestedBy, at, status } = discard;
  return {
    reason,
    status,
    requestedBy,
    requestedAt: at.toISOString(),
    ...(discard.status === 'proposed'
      ? { expiresAt: new Date(proposalExpiryMs(discard)).toISOString() }
      : { decidedBy: discard.decidedBy, decidedAt: discard.decidedAt.toISOString() }),
    ...(discard.status === 'rejected' && { rejectedFor: discard.rejectedFor }),
  };
}

/** The same with the message's content: its payload or, if it can't be decoded, its first bytes. */
async function viewWhole(
  message: StoredParkedMessage,
  codec: Pick<Codec, 'decode'>,
): Promise<ParkedDetailView> {
  const { kept } = message;
  const whole = { ...view(message), headers: kept?.headers ?? null };
  if (!kept?.value) return { ...whole, payload: null };
  const bytes = Buffer.from(kept.value);
  try {
    const { payload } = await codec.decode(bytes);
    // Amounts and times are 64-bit integers, which JSON numbers can't hold exactly.
    const text = JSON.stringify(payload, (_name, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return { ...whole, payload: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof UndecodableError)) throw error;
    return { ...whole, payload: null, base64: bytes.subarray(0, SHOWN_BYTES_MAX).toString('base64') };
  }
}
