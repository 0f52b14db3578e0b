import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { RejectionReason } from './domain/callback.ts';
import type { ReceptionOutcome } from './domain/reception.ts';

/** How a request to a callback address can end; `cut`: its body never came whole. */
export type Ending = ReceptionOutcome | RejectionReason | 'too_large' | 'compressed' | 'cut' | 'not_stored';

interface Answer {
  readonly status: 200 | 400 | 401 | 403 | 413 | 415 | 503;
  readonly body: { readonly received: true } | { readonly code: string; readonly message: string };
}

/** The largest body of a callback. */
export const BODY_BYTES_MAX = 65_536;

const received: Answer = { status: 200, body: { received: true } };
// What is wrong with a signature or an address helps nobody but a forger; the operators' list has the reason.
const unauthenticated: Answer = {
  status: 401,
  body: { code: 'unauthenticated', message: 'the callback is not authenticated' },
};
const malformed: Answer = {
  status: 400,
  body: { code: 'malformed', message: 'the body is no callback of this rail' },
};
/** Our own failure is never the rail's: it is told to come again (research/webhooks 5). */
const unavailable: Answer = {
  status: 503,
  body: { code: 'unavailable', message: 'not taken: send it again' },
};

const answers: Readonly<Record<Ending, Answer>> = {
  stored: received,
  repeated: received,
  repassed: received,
  recovered: received,
  id_reused: received,
  failed: unavailable,
  not_stored: unavailable,
  'address.unlisted': {
    status: 403,
    body: { code: 'not_permitted', message: 'callbacks are not taken from here' },
  },
  'signature.wrong': unauthenticated,
  'signature.expired': unauthenticated,
  'signature.missing': unauthenticated,
  'body.malformed': malformed,
  'reference.foreign': malformed,
  cut: malformed,
  too_large: {
    status: 413,
    body: { code: 'too_large', message: `a callback has at most ${BODY_BYTES_MAX} bytes` },
  },
  compressed: { status: 415, body: { code: 'not_supported', message: 'send the body uncompressed' } },
};

/** Answers a rail; refusals say no more than what the sender may know. */
export function answer(context: Context, ending: Ending): Response {
  const { status, body } = answers[ending];
  if (status === 503) context.header('retry-after', '5');
  return answerJson(context, status, body);
}

/** An ending as metrics name it. */
export function resultOf(ending: Ending): { readonly result: string; readonly reason: string } {
  const isRejected =
    ending === 'id_reused' || (answers[ending].status < 500 && answers[ending].status >= 400);
  return isRejected ? { result: 'rejected', reason: ending } : { result: ending, reason: '' };
}
