import { JsonError, parseJson } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Guard } from './guard.ts';
import type { TransportResponse } from './http-transport.ts';
import {
  BUSY_RETRY_MS,
  type NotSent,
  notSent,
  refusedUs,
  UNREACHED_RETRY_MS,
  type Unknown,
  unknown,
} from './rail.ts';
import type { CommonSettings } from './settings.ts';

/** A request with a JSON body or none, without a deadline. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Numbers may carry their own text (`jsonNumber`). */
  readonly body?: unknown;
  /**
   * Whether the call only asks. A refusal by the rail then answers nothing about the payment and is reported to people.
   */
  readonly isQuery?: true;
  /** Whether a merchant asks, about no payment; such calls have a share of the rail's limits. */
  readonly isInquiry?: true;
  /** The largest answer that is read, if it may exceed the default. */
  readonly bytesMax?: number;
}

/** A JSON answer of the rail, not yet interpreted. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: unknown;
}

/** Calls a rail that answers in JSON. Outcomes that follow from an answer's status alone are decided here. */
export type CallRail = (call: Call) => Promise<Answered | Unknown | NotSent>;

const RETRY_AFTER_MIN_MS = 100;
const RETRY_AFTER_MAX_MS = 600_000;

/** Builds the function that calls a rail through its guard. */
export function createCall(dependencies: {
  readonly guard: Guard;
  readonly settings: Pick<CommonSettings, 'timeoutMs'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}): CallRail {
  return async ({ method, url, headers, body, bytesMax, isQuery, isInquiry }) => {
    const request = {
      method,
      url,
      headers: { accept: 'application/json', ...headers },
      timeoutMs: dependencies.settings.timeoutMs,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(bytesMax !== undefined && { bytesMax }),
    };
    const guarded = await dependencies.guard(request, isInquiry ? 'inquiry' : 'payment');
    if (guarded.kind === 'unreached') {
      return isQuery ? unknown(guarded.why) : notSent(guarded.why, UNREACHED_RETRY_MS);
    }
    if (guarded.kind !== 'answered') return guarded;
    return judge(guarded.response, isQuery === true, dependencies.clock.nowMs());
  };
}

function judge(response: TransportResponse, isQuery: boolean, nowMs: number): Answered | Unknown | NotSent {
  const { status } = response;
  const why = `HTTP ${status}`;
  if (status === 429) {
    const retryAfterMs = readRetryAfterMs(response.retryAfter, nowMs);
    return isQuery ? { ...unknown(why), retryAfterMs } : notSent(why, retryAfterMs);
  }
  if (isKeyRefused(status)) return isQuery ? { ...unknown(why), isOurFault: true } : refusedUs(why);
  if (status >= 500 || (status >= 300 && status < 400)) return unknown(why);
  try {
    return { kind: 'answered', status, body: parseJson(response.bodyText) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return unknown(`${why}: malformed JSON`);
  }
}

function isKeyRefused(status: number): boolean {
  return status === 401 || status === 403;
}

/** Reads a Retry-After header, seconds or a date (RFC 9110 10.2.3), within bounds. */
function readRetryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return BUSY_RETRY_MS;
  const askedMs = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  if (Number.isNaN(askedMs)) return BUSY_RETRY_MS;
  return Math.min(RETRY_AFTER_MAX_MS, Math.max(RETRY_AFTER_MIN_MS, askedMs));
}
