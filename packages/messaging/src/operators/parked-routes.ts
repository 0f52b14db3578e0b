import { line } from '@pesewa/contracts';
import { proposalExpiryMs } from '@pesewa/kernel';
import {
  answerJson,
  formatPageCursor,
  forNamedOperators,
  type Logger,
  operatorOf,
  pageCursor,
  readOperatorBody,
  readOperatorQuery,
  refuseOperator,
  refuserOf,
} from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { type ParkedMessage, parkedStates } from '../inbox/parked-message.ts';
import type { KeptParked } from '../inbox/parked-store.ts';
import { type Codec, UndecodableError } from '../schemas/codec.ts';
import type { ParkedMessages, ParkedRefusal } from './parked.ts';

const MESSAGES_PER_PAGE = 100;
const REASON_LENGTH_MAX = 200;
/** Enough to recognise an undecodable message; all of it is in the database and in its topic. */
const SHOWN_BYTES_MAX = 3_072;

const query = z.object({
  state: z.enum(parkedStates).optional(),
  topic: z.string().min(1).max(200).optional(),
  cursor: pageCursor.optional(),
});

const proposal = z.strictObject(
  { reason: line(REASON_LENGTH_MAX) },
  { error: 'the body must be { "reason": "…" }' },
);

/** The dependencies of the routes of parked messages. */
export interface ParkedRouteDeps {
  readonly parked: ParkedMessages;
  readonly codec: Pick<Codec, 'decode'>;
  readonly logger: Pick<Logger, 'info'>;
  /** Whether the shared token, which belongs to no person, may replay and discard: only in development. */
  readonly sharedMayOrder: boolean;
}

/**
 * Adds the routes by which operators list parked messages, replay them, and discard them with a second operator's
 * approval (ADR 39).
 */
export function addParkedRoutes(operator: Hono, deps: ParkedRouteDeps): void {
  const { parked, codec, logger } = deps;
  operator.post('/parked/*', forNamedOperators(deps.sharedMayOrder));
  operator.get('/parked', async (context) => {
    const wanted = readOperatorQuery(context, query);
    if (!wanted.ok) return wanted.refusal;
    const { state, topic, cursor: after } = wanted.value;
    const page = await parked.list({ state, topic, after, limit: MESSAGES_PER_PAGE });
    return answerJson(context, 200, {
      items: page.items.map(view),
      next: page.next && formatPageCursor(page.next),
    });
  });
  operator.get('/parked/:id', async (context) => {
    const found = await parked.find(idOf(context));
    return found
      ? answerJson(context, 200, await viewWhole(found, codec))
      : refuseParked(context, 'parked.unknown');
  });
  operator.post('/parked/:id/replay', async (context) => {
    const id = idOf(context);
    const by = operatorOf(context);
    const replayed = await parked.replay(id, by);
    if (replayed.ok) {
      logger.info({ parked: id, operator: by }, 'a parked message was replayed');
      return answerJson(context, 200, view(replayed.value));
    }
    if (typeof replayed.refusal === 'string') return refuseParked(context, replayed.refusal);
    const { failure } = replayed.refusal;
    logger.info({ parked: id, operator: by, failure }, 'the replay of a parked message failed');
    return refuseOperator(context, 409, 'replay_failed', `the message stays parked: ${failure}`);
  });
  operator.post('/parked/:id/discard', async (context) => {
    const body = await readOperatorBody(context, proposal);
    if (!body.ok) return body.refusal;
    const { reason } = body.value;
    const by = operatorOf(context);
    const proposed = await parked.proposeDiscard(idOf(context), { reason, by });
    if (!proposed.ok) return refuseParked(context, proposed.refusal);
    logger.info({ parked: idOf(context), operator: by }, 'the discard of a parked message was proposed');
    return answerJson(context, 202, view(proposed.value));
  });
  for (const verdict of ['approve', 'reject'] as const) {
    operator.post(`/parked/:id/discard/${verdict}`, async (context) => {
      const by = operatorOf(context);
      const decided = await parked.decideDiscard(idOf(context), { verdict, by });
      if (!decided.ok) return refuseParked(context, decided.refusal);
      logger.info(
        { parked: idOf(context), operator: by, verdict },
        'to discard a parked message was decided',
      );
      return answerJson(context, 200, view(decided.value));
    });
  }
}

const refuseParked = refuserOf<ParkedRefusal>({
  'parked.unknown': [404, 'not_found', 'there is no such parked message'],
  'parked.closed': [409, 'closed', 'the message is no longer parked: show it to see its outcome'],
  'discard.open': [409, 'undecided', 'a discard of it is already proposed, and not decided yet'],
  'discard.none': [409, 'not_proposed', 'no discard of it is proposed'],
  'discard.same_operator': [
    403,
    'same_operator',
    'you proposed to discard it: another operator must approve that, with a token of their own',
  ],
  'discard.expired': [409, 'expired', 'the proposal is older than seven days: propose it again'],
  'discard.decided': [409, 'decided', 'the proposal is decided already'],
});

function idOf(context: Context): string {
  return context.req.param('id') ?? '';
}

/** A parked message as operators see it in a list; times in UTC. */
function view(message: ParkedMessage) {
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

function viewDiscard(discard: NonNullable<ParkedMessage['discard']>) {
  const { reason, requestedBy, at, status } = discard;
  return {
    reason,
    status,
    requestedBy,
    requestedAt: at.toISOString(),
    ...(discard.status === 'proposed'
      ? { expiresAt: new Date(proposalExpiryMs(discard)).toISOString() }
      : { decidedBy: discard.decidedBy, decidedAt: discard.decidedAt.toISOString() }),
  };
}

/** The same with the message's content: its payload or, if it can't be decoded, its first bytes. */
async function viewWhole(message: KeptParked, codec: Pick<Codec, 'decode'>) {
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
