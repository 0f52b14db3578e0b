import { jsonHeaders } from '@pesewa/runtime';
import type { CallbackRefusal } from './callbacks.ts';
import type { ReceptionOutcome } from './domain/reception.ts';

/** The ways in which a request to a callback address can end; `cut`: its body did not arrive completely. */
export type RequestOutcome =
  | ReceptionOutcome
  | CallbackRefusal
  | 'too_large'
  | 'compressed'
  | 'cut'
  | 'not_stored';

interface Answer {
  readonly status: 200 | 400 | 401 | 403 | 408 | 413 | 415 | 429 | 503;
  readonly body: { readonly received: true } | { readonly code: string; readonly message: string };
}

/** The largest body of a callback. */
export const BODY_BYTES_MAX = 8_192;

const received: Answer = { status: 200, body: { received: true } };
// Details about a wrong signature or address would only help a forger; the operators' list has the reason.
const unauthenticated: Answer = {
  status: 401,
  body: { code: 'unauthenticated', message: 'the callback is not authenticated' },
};
const malformed: Answer = {
  status: 400,
  body: { code: 'malformed', message: 'the body is no callback of this rail' },
};
/** A failure of ours is never the rail's: it is asked to send the callback again (contract 10.16). */
const unavailable: Answer = {
  status: 503,
  body: { code: 'unavailable', message: 'not taken: send it again' },
};

const answers: Readonly<Record<RequestOutcome, Answer>> = {
  stored: received,
  repeated: received,
  repassed: received,
  recovered: received,
  id_reused: received,
  failed: unavailable,
  not_stored: unavailable,
  overloaded: unavailable,
  not_kept: unavailable,
  no_room: unavailable,
  rate_exceeded: { status: 429, body: { code: 'too_many', message: 'too many at once: send it again' } },
  'address.unlisted': {
    status: 403,
    body: { code: 'not_permitted', message: 'callbacks are not taken from here' },
  },
  'signature.wrong': unauthenticated,
  'signature.expired': unauthenticated,
  'signature.missing': unauthenticated,
  'body.malformed': malformed,
  'reference.foreign': malformed,
  cut: { status: 408, body: { code: 'cut', message: 'the body did not arrive in full' } },
  too_large: {
    status: 413,
    body: { code: 'too_large', message: `a callback has at most ${BODY_BYTES_MAX} bytes` },
  },
  compressed: { status: 415, body: { code: 'not_supported', message: 'send the body uncompressed' } },
};

const furtherHeaders: Readonly<Partial<Record<Answer['status'], Readonly<Record<string, string>>>>> = {
  // RFC 9110 12.5.3: a sender that can read it doesn't compress again.
  415: { 'accept-encoding': 'identity' },
  429: { 'retry-after': '1' },
  503: { 'retry-after': '5' },
};

/** Ends that say nothing about the callback itself: a broken connection, or our own limits. */
const ownOutcomes: ReadonlySet<RequestOutcome> = new Set(['cut', 'rate_exceeded']);

/**
 * Answers a rail; a refusal reveals only what its sender may know. Its headers are a plain object, which goes out as it is: made
 * into `Headers` and back, they took longer than the check of a signature.
 */
export function answer(ending: RequestOutcome): Response {
  const { status, body } = answers[ending];
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...jsonHeaders, ...furtherHeaders[status] },
  });
}

/** An ending in the labels of metrics. */
export function resultOf(ending: RequestOutcome): { readonly result: string; readonly reason: string } {
  const { status } = answers[ending];
  const isRejected = status >= 400 && status < 500 && !ownOutcomes.has(ending);
  return isRejected ? { result: 'rejected', reason: ending } : { result: ending, reason: '' };
}
